#pragma once

#include <memory>
#include <string>

#include "app/frame.h"

namespace convscope {

/// OpenCV reads EXR and says nothing on stderr by itself. Sets variables of the environment: where other
/// threads run, to be called before they start.
void prepare_image_input();

/// An image file, pixels as stored (8, 16 bit, float, double), upright, alpha left out of the planes.
/// Throws Error with one line.
std::unique_ptr<Frame> read_image_file(const std::string& path);

/// "8-bit", "float32"
std::string type_name(PixelType);

/// A frame has at most this many values: 2^31.
inline constexpr int64_t kMaxValues = int64_t{1} << 31;

}  // namespace convscope
