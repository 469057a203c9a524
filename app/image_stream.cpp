#include "app/image_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "kernels/error.h"

namespace convscope {
namespace {

using Bytes = std::span<const std::byte>;

std::size_t byte_at(Bytes bytes, std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); }
std::size_t big16(Bytes bytes, std::size_t i) { return byte_at(bytes, i) << 8 | byte_at(bytes, i + 1); }
std::size_t big32(Bytes bytes, std::size_t i) { return big16(bytes, i) << 16 | big16(bytes, i + 2); }
std::size_t little32(Bytes bytes, std::size_t i) {
  return byte_at(bytes, i) | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2) << 16 |
         byte_at(bytes, i + 3) << 24;
}
bool starts_with(Bytes bytes, std::string_view magic, std::size_t at = 0) {
  return bytes.size() >= at + magic.size() && std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

[[noreturn]] void truncated(const std::string& name, Bytes bytes, const char* format, const char* missing) {
  throw Error(
      fmt::format("{}: truncated {} file: {} bytes end before {}", name, format, bytes.size(), missing));
}

Bytes without_exif_prefix(Bytes segment) {
  return starts_with(segment, std::string_view("Exif\0\0", 6)) ? segment.subspan(6) : segment;
}

/// Chunks of length, type, data, checksum up to IEND (PNG specification, section 5.3).
void walk_png(Bytes bytes, const std::string& name, ImageStream& out) {
  std::size_t at = 8;
  while (true) {
    if (at + 12 > bytes.size()) truncated(name, bytes, "PNG", "its IEND chunk");
    const std::size_t length = big32(bytes, at);
    if (at + 12 + length > bytes.size()) truncated(name, bytes, "PNG", "its IEND chunk");
    if (starts_with(bytes, "IEND", at + 4)) return;
    if (starts_with(bytes, "IHDR", at + 4) && length >= 8) {
      out.width = static_cast<int64_t>(big32(bytes, at + 8));
      out.height = static_cast<int64_t>(big32(bytes, at + 12));
      constexpr std::size_t kGreyAndAlpha = 4;
      out.grey = length >= 10 && byte_at(bytes, at + 17) == kGreyAndAlpha;
    }
    if (starts_with(bytes, "eXIf", at + 4))
      out.orientation = exif_orientation(without_exif_prefix(bytes.subspan(at + 8, length)));
    at += 12 + length;
  }
}

bool is_frame_header(std::size_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/// Marker segments up to EOI (ITU-T T.81, annex B). Entropy-coded data runs to the next marker that is
/// neither a stuffed zero nor a restart. What follows EOI (cameras append previews) is not looked at.
void walk_jpeg(Bytes bytes, const std::string& name, ImageStream& out) {
  constexpr std::size_t kEoi = 0xd9, kSos = 0xda, kApp1 = 0xe1;
  const char* missing = "its end-of-image marker";
  std::size_t at = 2;
  while (true) {
    while (at < bytes.size() && byte_at(bytes, at) != 0xff) ++at;  // entropy-coded data, or stray bytes
    while (at < bytes.size() && byte_at(bytes, at) == 0xff) ++at;  // fill bytes
    if (at >= bytes.size()) truncated(name, bytes, "JPEG", missing);
    const std::size_t marker = byte_at(bytes, at++);
    if (marker == kEoi) return;
    if (marker == 0 || marker == 1 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    if (at + 2 > bytes.size()) truncated(name, bytes, "JPEG", missing);
    const std::size_t length = big16(bytes, at);
    if (length < 2 || at + length > bytes.size()) truncated(name, bytes, "JPEG", missing);
    const Bytes segment = bytes.subspan(at + 2, length - 2);
    if (marker == kApp1 && starts_with(segment, std::string_view("Exif\0\0", 6)) && out.orientation == 1)
      out.orientation = exif_orientation(without_exif_prefix(segment));
    if (is_frame_header(marker) && segment.size() >= 5) {
      out.height = static_cast<int64_t>(big16(segment, 1));
      out.width = static_cast<int64_t>(big16(segment, 3));
    }
    if (marker == kSos) missing = "the end of its picture data";
    at += length;
  }
}

/// RIFF chunks (WebP container specification): the length of the whole stands in front.
void walk_webp(Bytes bytes, const std::string& name, ImageStream& out) {
  const std::size_t end = 8 + little32(bytes, 4);
  if (end > bytes.size()) truncated(name, bytes, "WebP", fmt::format("the {} it announces", end).c_str());
  for (std::size_t at = 12; at + 8 <= end;) {
    const std::size_t length = little32(bytes, at + 4);
    constexpr std::size_t kAnimated = 2;
    if (starts_with(bytes, "VP8X", at) && at + 8 < end && (byte_at(bytes, at + 8) & kAnimated))
      throw Error(fmt::format("{}: is an animated WebP file, expected a still picture", name));
    if (starts_with(bytes, "EXIF", at) && at + 8 + length <= end)
      out.orientation = exif_orientation(without_exif_prefix(bytes.subspan(at + 8, length)));
    at += 8 + length + length % 2;
  }
}

void walk_bmp(Bytes bytes, const std::string& name) {
  const std::size_t size = little32(bytes, 2), data = little32(bytes, 10);
  // some writers leave the size 0
  const std::size_t end = std::max(size, data);
  if (end > bytes.size()) truncated(name, bytes, "BMP", fmt::format("the {} it announces", end).c_str());
}

std::optional<std::string> format_of(Bytes bytes) {
  if (starts_with(bytes, std::string_view("\x89PNG\r\n\x1a\n", 8))) return "PNG";
  if (starts_with(bytes, "\xff\xd8")) return "JPEG";
  if (starts_with(bytes, "BM") && bytes.size() >= 26) return "BMP";
  if (starts_with(bytes, std::string_view("II\x2a\0", 4)) ||
      starts_with(bytes, std::string_view("MM\0\x2a", 4)))
    return "TIFF";
  if (starts_with(bytes, std::string_view("II\x2b\0", 4)) ||
      starts_with(bytes, std::string_view("MM\0\x2b", 4)))
    return "TIFF";  // BigTIFF
  if (starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8)) return "WebP";
  if (starts_with(bytes, "\x76\x2f\x31\x01")) return "EXR";
  if (starts_with(bytes, "#?RADIANCE") || starts_with(bytes, "#?RGBE")) return "HDR";
  if (bytes.size() >= 3 && byte_at(bytes, 0) == 'P' && std::isspace(static_cast<int>(byte_at(bytes, 2)))) {
    const char kind = static_cast<char>(byte_at(bytes, 1));
    if (kind >= '1' && kind <= '6') return "PNM";
    if (kind == 'f' || kind == 'F') return "PFM";
  }
  return std::nullopt;
}

std::string first_bytes(Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes.first(std::min<std::size_t>(bytes.size(), 12))) {
    const char c = static_cast<char>(b);
    if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

}  // namespace

ImageStream inspect_image(Bytes bytes, const std::string& name) {
  const std::optional<std::string> format = format_of(bytes);
  if (!format)
    throw Error(fmt::format("{}: is not an image that can be read (it starts with \"{}\"), expected {}", name,
                            first_bytes(bytes), kImageFormats));
  ImageStream out;
  out.format = *format;
  if (*format == "PNG") walk_png(bytes, name, out);
  if (*format == "JPEG") walk_jpeg(bytes, name, out);
  if (*format == "WebP") walk_webp(bytes, name, out);
  if (*format == "BMP") walk_bmp(bytes, name);
  if (*format == "TIFF") out.tiff = read_tiff_tags(bytes);
  return out;
}

}  // namespace convscope
