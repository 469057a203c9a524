#include "app/frame.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace convscope {

Pixels::Pixels(std::vector<std::byte> bytes) {
  const auto owned = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  data_ = owned->data();
  size_ = owned->size();
  keep_ = owned;
}

void Pixels::resize(std::size_t size) { *this = Pixels(std::vector<std::byte>(size)); }

void Pixels::assign(const std::byte* first, const std::byte* last) {
  *this = Pixels(std::vector<std::byte>(first, last));
}

uint64_t next_frame_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace convscope
