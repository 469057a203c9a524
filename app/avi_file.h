#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convscope {

/// A Motion JPEG video in an AVI file with one index (Microsoft, "AVI RIFF File Reference"). OpenCV 4.6's own
/// writer sees no error of the disk, and ends the program with a file of more than 4 GiB.
/// Functions throw Error naming the file; what was whole before that stays in it.
class AviFile {
 public:
  /// Of a file: its sizes and offsets have 32 bits, which many readers take for signed.
  static constexpr uint64_t kMostBytes = 2'000'000'000;

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
  std::size_t pictures() const { return chunks_.size(); }

 private:
  struct Chunk {
    uint32_t offset = 0, bytes = 0;  // from the name of the list "movi"
  };
  void append(std::span<const std::byte> bytes);
  void write_header(bool indexed);
  void write_at(uint64_t place, std::span<const std::byte> bytes);

  const std::string path_;
  int file_ = -1, width_ = 0, height_ = 0, fps_ = 0;
  uint64_t whole_ = 0;  // bytes that hold whole chunks
  uint32_t largest_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace convscope
