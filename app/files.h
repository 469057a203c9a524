#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convscope {

/// The whole file. Throws Error naming it: missing, a folder, unreadable, empty, more than `most` bytes (told
/// before reading, whatever memory there is).
std::vector<std::byte> read_file(const std::string& path, int64_t most);
/// Up to 64 MiB.
std::string read_text(const std::string& path);

/// A file to be written, by name in its folder.
struct OutputFile {
  std::string name;
  std::vector<std::byte> bytes;
};

/// Writes all of them or none: to temporary names first, then renamed. Makes the folder, and takes it away
/// again where nothing could be written. Throws Error.
void write_files(const std::string& folder, std::span<const OutputFile> files);
/// One file by path, atomically, in a folder that exists. Throws Error.
void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_text(const std::string& path, const std::string& text);

std::vector<std::byte> to_bytes(const std::string& text);

/// ASCII letters in lower case.
std::string lower(std::string text);
/// Of photo.PNG: ".png".
std::string lower_ending(const std::string& path);

/// Hexadecimal FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
std::string hash_of(std::span<const std::byte> bytes);

}  // namespace convscope
