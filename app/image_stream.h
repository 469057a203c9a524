#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace convscope {

/// Tags of a TIFF file's first picture (TIFF 6.0); the defaults where it is none, or broken.
struct TiffTags {
  int bits = 8;                     // a sample, tag 258; the first one's where they differ
  bool unassociated_alpha = false;  // tag 338 is 2: colours are not yet multiplied by alpha
};

/// What an image file's own structure says, read before any decoder sees it.
struct ImageStream {
  std::string format;             // "PNG"
  int orientation = 1;            // EXIF, 1 (upright) to 8; what the decoder does not apply by itself
  int64_t width = 0, height = 0;  // where the walk meets them (PNG, JPEG), else 0
  bool grey = false;              // PNG's grey with alpha, which OpenCV makes four channels of
  TiffTags tiff;                  // of a TIFF file
};

/// Walks the file's structure. Throws Error naming it: no known image format, or cut off before its end.
/// libjpeg fills what is missing of a JPEG with grey and OpenCV reports success, so that the end has to be
/// looked for here.
ImageStream inspect_image(std::span<const std::byte> bytes, const std::string& name);

/// The EXIF orientation in a TIFF structure (EXIF 2.3, 4.6.4, tag 0x0112); 1 where there is none or it is
/// broken.
int exif_orientation(std::span<const std::byte> tiff);

TiffTags read_tiff_tags(std::span<const std::byte> tiff);

/// Formats that are read, for messages.
inline constexpr const char* kImageFormats = "PNG, JPEG, BMP, TIFF, WebP, EXR, HDR, PNM or .npy";

}  // namespace convscope
