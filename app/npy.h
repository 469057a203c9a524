#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/runtime.h"

namespace convscope {

/// An array as NumPy writes it (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html),
/// brought to C order and this machine's byte order.
struct NpyArray {
  PixelType type = PixelType::f32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
  int64_t size() const;  // values
  std::vector<double> values() const;
};

/// Format versions 1.0, 2.0, 3.0; u1, u2, f4, f8 in either byte order; C and Fortran order. Throws Error
/// naming the file, what was found and what was expected.
NpyArray read_npy(const std::string& path);
/// The same from memory; `name` stands in the errors.
NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& name);

/// Version 1.0, little-endian float32 or float64, C order; the header is padded to 64 bytes.
std::vector<std::byte> npy_bytes(Precision, std::span<const int64_t> shape, const void* values);

/// "3 x 1080 x 1920"
std::string shape_text(std::span<const int64_t> shape);

}  // namespace convscope
