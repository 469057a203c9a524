#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime.h"

namespace convscope {

/// One image as it goes up to the target: raw pixels and how they lie. Immutable once made.
struct Frame {
  uint64_t id = 0;              // differs for every frame of a run of the program
  PixelLayout layout;           // layout.unit_scale is set by the settings, not by the source
  int64_t images = 1;           // n: images one after the other in `pixels`
  std::vector<std::byte> pixels;
  std::string name;             // what the user opened: a path or pattern:...
  std::string format;           // "PNG 8-bit BGR", for the source panel
  std::string note;             // what was done to it: "EXIF orientation 6 applied", "alpha left out"; may be empty
  std::string hash;             // of the pixels: hexadecimal FNV-1a, 64 bit
};
using FramePtr = std::shared_ptr<const Frame>;

}  // namespace convscope
