#include "app/avi_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "kernels/error.h"

namespace convscope {
namespace {

constexpr uint32_t kHeaderBytes = 224;  // up to the first chunk of the list "movi"
constexpr uint32_t kIndexEntryBytes = 16, kIndexHeaderBytes = 8;
constexpr uint32_t kHasIndex = 0x10, kKeyFrame = 0x10;  // AVIF_HASINDEX, AVIIF_KEYFRAME

/// Names of four letters and little-endian numbers, one after the other.
class Bytes {
 public:
  Bytes& name(std::string_view letters) {
    for (const char letter : letters) bytes_.push_back(static_cast<std::byte>(letter));
    return *this;
  }
  Bytes& u16(uint32_t value) { return number(value, 2); }
  Bytes& u32(uint32_t value) { return number(value, 4); }
  Bytes& raw(std::span<const uint8_t> values) {
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  std::span<const std::byte> span() const { return bytes_; }

 private:
  Bytes& number(uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
    return *this;
  }
  std::vector<std::byte> bytes_;
};

/// With the reason of the call that just failed.
std::string cannot_be_written(const std::string& path) {
  return fmt::format("{}: cannot be written ({})", path, std::strerror(errno));
}

}  // namespace

AviFile::AviFile(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file_ < 0 && errno == EEXIST)
    throw Error(fmt::format("{}: is there already, expected the name of a new file", path_));
  if (file_ < 0) throw Error(cannot_be_written(path_));
}

AviFile::~AviFile() {
  try {
    close();
  } catch (const std::exception&) {
    // whoever wants to know calls close()
  }
}

void AviFile::begin(int width, int height, int fps) {
  width_ = width, height_ = height, fps_ = fps;
  write_header(false);
  whole_ = kHeaderBytes;
}

void AviFile::write(std::span<const uint8_t> jpeg) {
  if (whole_ + jpeg.size() > kMostBytes)
    throw Error(fmt::format("{}: would have more than {} bytes", path_, kMostBytes));
  const auto bytes = static_cast<uint32_t>(jpeg.size());
  Bytes chunk;
  chunk.name("00dc").u32(bytes).raw(jpeg);
  if (bytes % 2 == 1) chunk.name(std::string_view("\0", 1));  // chunks begin at even places
  const auto offset = static_cast<uint32_t>(whole_ - kHeaderBytes + 4);
  append(chunk.span());
  chunks_.push_back({offset, bytes});
  largest_ = std::max(largest_, bytes);
}

void AviFile::close() {
  if (file_ < 0) return;
  if (chunks_.empty()) {
    ::close(std::exchange(file_, -1));
    ::unlink(path_.c_str());
    whole_ = 0;
    return;
  }
  Bytes index;
  index.name("idx1").u32(static_cast<uint32_t>(chunks_.size()) * kIndexEntryBytes);
  for (const Chunk& chunk : chunks_) index.name("00dc").u32(kKeyFrame).u32(chunk.offset).u32(chunk.bytes);
  std::exception_ptr fault;
  try {
    write_header(false);  // first of all: without an index, too, the file can be played
    append(index.span());
    write_header(true);
  } catch (const std::exception&) {
    fault = std::current_exception();
  }
  // full disks and network folders report late, at close
  if (::close(std::exchange(file_, -1)) != 0 && !fault) throw Error(cannot_be_written(path_));
  if (fault) std::rethrow_exception(fault);
}

uint64_t AviFile::bytes() const {
  return file_ < 0 || chunks_.empty() ? whole_
                                      : whole_ + kIndexHeaderBytes + kIndexEntryBytes * chunks_.size();
}

void AviFile::append(std::span<const std::byte> bytes) try {
  write_at(whole_, bytes);
  whole_ += bytes.size();
} catch (const Error&) {
  // without half a chunk at the end; where even this fails, with it
  [[maybe_unused]] const int ignored = ::ftruncate(file_, static_cast<off_t>(whole_));
  throw;
}

void AviFile::write_at(uint64_t place, std::span<const std::byte> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(place + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(cannot_be_written(path_));
    done += static_cast<std::size_t>(n);
  }
}

void AviFile::write_header(bool indexed) {
  const auto pictures = static_cast<uint32_t>(chunks_.size());
  const auto w = static_cast<uint32_t>(width_), h = static_cast<uint32_t>(height_);
  const auto fps = static_cast<uint32_t>(fps_);
  const uint32_t index = indexed ? kIndexHeaderBytes + pictures * kIndexEntryBytes : 0;
  const auto whole = std::max(static_cast<uint32_t>(whole_), kHeaderBytes);
  Bytes b;
  b.name("RIFF").u32(whole - 8).name("AVI ");
  b.name("LIST").u32(192).name("hdrl");
  b.name("avih").u32(56).u32(1'000'000 / fps).u32(largest_ * fps).u32(0).u32(indexed ? kHasIndex : 0);
  b.u32(pictures).u32(0).u32(1).u32(largest_).u32(w).u32(h).u32(0).u32(0).u32(0).u32(0);
  b.name("LIST").u32(116).name("strl");
  b.name("strh").u32(56).name("vids").name("MJPG").u32(0).u32(0).u32(0);
  b.u32(1).u32(fps).u32(0).u32(pictures).u32(largest_).u32(UINT32_MAX).u32(0);
  b.u16(0).u16(0).u16(w).u16(h);
  b.name("strf").u32(40).u32(40).u32(w).u32(h).u16(1).u16(24).name("MJPG").u32(w * h * 3);
  b.u32(0).u32(0).u32(0).u32(0);
  b.name("LIST").u32(whole - index - kHeaderBytes + 4).name("movi");
  write_at(0, b.span());
}

}  // namespace convscope
