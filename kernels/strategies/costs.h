#pragma once
// What the strategies ask of the machine, counted from their algorithms. One rule for all: within a launch
// every value is read or written once, since blocks that share it find it in the caches; from launch to
// launch it travels again, unless a note says that it stays in a cache.

#include <cstdint>

#include "kernels/cost.h"
#include "kernels/shape.h"

namespace convscope {

/// Each input, weight and output value once, the sum of products as it stands, one launch.
Cost direct_cost(const ConvShape&, Precision);

/// A launch for each image, map and channel: each reads a plane, and reads and writes the sums so far.
Cost looped_cost(const ConvShape&, Precision);

/// direct_cost with the maps made by so many launches, each of which reads the input.
Cost passes_cost(const ConvShape&, Precision, int64_t launches);

/// A column matrix of c_in k_h k_w values a pixel, written and read, in so many chunks (a launch and a
/// product each). `in_cache`: a chunk does not leave the L2 cache.
Cost im2col_cost(const ConvProblem&, Precision, int64_t chunks, bool in_cache);

/// k_h + k_w multiply-adds for each channel and rank. Both passes together in so many `fused` launches, each
/// of which reads the input; for none, two launches for each map, which hand a plane for each channel over in
/// memory.
Cost separable_cost(const ConvShape&, Precision, int64_t rank, int64_t fused);

/// F(m x m, 3x3), m = 2 or 4, by blocks that make `maps_together` maps of their tiles.
Cost winograd_cost(const ConvShape&, Precision, int64_t m, int64_t maps_together);

/// The same in three launches, which hand transformed tiles and their products over in memory; every product
/// as three of operands in two parts.
Cost winograd_products_cost(const ConvShape&, Precision, int64_t m);

/// Pad, transform, product of spectra for `maps_together` maps of `images_together` images at a time,
/// transform back, crop.
Cost fft_cost(const ConvShape&, Precision, int64_t maps_together, int64_t images_together);

/// Every product as three of operands in two parts.
Cost split_cost(const ConvShape&, Precision);

/// direct_cost, and what it leaves out: what a library does inside is not known.
Cost library_cost(const ConvShape&, Precision, const char* library);

/// A pass over the output for what `of` says ("the activation"), one more launch.
Cost with_output_pass(Cost, const ConvShape&, Precision, const char* of);

}  // namespace convscope
