#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace convscope {

/// What an image file's own structure says, read before any decoder sees it.
struct ImageStream {
  std::string format;             // "PNG"
  int orientation = 1;            // EXIF, 1 (upright) to 8; what the decoder does not apply by itself
  int64_t width = 0, height = 0;  // where the walk meets them (PNG, JPEG), else 0
};

/// Walks the file's structure. Throws Error naming it: no known image format, or cut off before its end.
/// libjpeg fills what is missing of a JPEG with grey and OpenCV reports success, so that the end has to be
/// looked for here.
ImageStream inspect_image(std::span<const std::byte> bytes, const std::string& name);

/// The EXIF orientation in a TIFF structure (EXIF 2.3, 4.6.4, tag 0x0112); 1 where there is none or it is
/// broken.
int exif_orientation(std::span<const std::byte> tiff);

/// Formats that are read, for messages.
inline constexpr const char* kImageFormats = "PNG, JPEG, BMP, TIFF, WebP, EXR, HDR, PNM or .npy";

}  // namespace convscope
