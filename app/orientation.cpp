#include <cstring>

#include "app/image_stream.h"

namespace convscope {
namespace {

/// Integers of a TIFF structure in its own byte order; `ok` turns false on reading past the end.
class TiffReader {
 public:
  explicit TiffReader(std::span<const std::byte> bytes) : bytes_(bytes) {
    ok_ = bytes.size() >= 8;
    big_ = ok_ && std::memcmp(bytes.data(), "MM\0\x2a", 4) == 0;
    ok_ = big_ || (ok_ && std::memcmp(bytes.data(), "II\x2a\0", 4) == 0);
  }
  bool ok() const { return ok_; }
  uint32_t read(std::size_t at, int width) {
    if (at + static_cast<std::size_t>(width) > bytes_.size()) ok_ = false;
    if (!ok_) return 0;
    uint32_t value = 0;
    for (int i = 0; i < width; ++i) {
      const int place = big_ ? i : width - 1 - i;
      value = value << 8 | std::to_integer<uint32_t>(bytes_[at + static_cast<std::size_t>(place)]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_ = false, ok_ = false;
};

/// The first value of a tag of SHORTs in the first directory, `otherwise` where there is none or it is
/// broken.
uint32_t first_short(std::span<const std::byte> tiff, uint32_t tag, uint32_t otherwise) {
  constexpr uint32_t kShort = 3;
  TiffReader reader(tiff);
  const std::size_t directory = reader.read(4, 4);
  const uint32_t entries = reader.read(directory, 2);
  for (uint32_t i = 0; reader.ok() && i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * std::size_t{i};
    if (reader.read(entry, 2) != tag || reader.read(entry + 2, 2) != kShort) continue;
    // up to two stand in the entry itself
    const bool elsewhere = reader.read(entry + 4, 4) > 2;
    const uint32_t value = reader.read(elsewhere ? reader.read(entry + 8, 4) : entry + 8, 2);
    return reader.ok() ? value : otherwise;
  }
  return otherwise;
}

}  // namespace

int exif_orientation(std::span<const std::byte> tiff) {
  const uint32_t value = first_short(tiff, 0x0112, 1);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

TiffTags read_tiff_tags(std::span<const std::byte> tiff) {
  constexpr uint32_t kBitsPerSample = 258, kExtraSamples = 338, kUnassociated = 2;
  return {static_cast<int>(first_short(tiff, kBitsPerSample, 8)),
          first_short(tiff, kExtraSamples, 0) == kUnassociated};
}

}  // namespace convscope
