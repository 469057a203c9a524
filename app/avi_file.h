#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct AVFormatContext;

namespace convscope {

/// A Motion JPEG video in an AVI file, by libavformat. OpenCV 4.6's own writer sees no error of the disk.
/// Functions throw Error naming the file; pictures that were whole before that stay in it, without an index.
class AviFile {
 public:
  /// Of a file: beyond 1 GiB libavformat adds parts (OpenDML), which OpenCV's own reader leaves out.
  static constexpr uint64_t kMostBytes = 1'000'000'000;

  static constexpr uint64_t kBytesAround = 25;  // at most, what a picture takes beside its own bytes

  /// Makes the file, which must not be there yet.
  explicit AviFile(std::string path);
  /// close(), whose fault nobody hears.
  ~AviFile();
  AviFile(const AviFile&) = delete;
  AviFile& operator=(const AviFile&) = delete;

  /// Before the first picture; pixels, and whole pictures a second.
  void begin(int width, int height, int fps);
  void write(std::span<const uint8_t> jpeg);
  /// Writes the index and what the header says of the whole. A file without pictures is taken away again.
  void close();
  /// Of the file as close() leaves it.
  uint64_t bytes() const;
  std::size_t pictures() const { return pictures_; }

 private:
  struct Free {
    void operator()(AVFormatContext* format) const;
  };
  void flush(int result);

  const std::string path_;
  std::unique_ptr<AVFormatContext, Free> format_;  // until close()
  uint64_t whole_ = 0;                             // bytes that hold whole pictures
  std::size_t pictures_ = 0;
};

}  // namespace convscope
