#include "kernels/strategies/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/strategies/fft_plan.h"

namespace convscope {
namespace {

double real(int64_t count) { return static_cast<double>(count); }

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

double bytes(double values, Precision precision) { return values * static_cast<double>(bytes_of(precision)); }

double output_plane(const ConvShape& s) { return real(s.out_h()) * real(s.out_w()); }

/// Additions and multiply-adds of Winograd's transforms along one line of a tile, as winograd_transform.cuh
/// has them: of the input (m + 2 values to m + 2) and of the output (m + 2 to m).
struct TransformOperations {
  double input, output;
};
constexpr TransformOperations kOperationsF2{4, 4}, kOperationsF4{14, 10};

}  // namespace

Cost direct_cost(const ConvShape& s, Precision precision) {
  return {.bytes = bytes(real(s.input_size() + s.weight_size() + s.output_size()), precision),
          .multiply_adds = real(s.multiply_adds()),
          .launches = 1,
          .note = {}};
}

Cost looped_cost(const ConvShape& s, Precision precision) {
  const double maps = real(s.n * s.c_out), launches = maps * real(s.c_in);
  const double reads = launches * real(s.h * s.w) + real(s.n * s.weight_size());
  const double sums = output_plane(s) * (launches + (launches - maps));  // the first channel reads no sum
  return {.bytes = bytes(reads + sums, precision),
          .multiply_adds = real(s.multiply_adds()),
          .launches = launches,
          .note = "every map reads each channel again; the sums so far are written and read once a channel"};
}

Cost passes_cost(const ConvShape& s, Precision precision, int64_t launches) {
  Cost cost = direct_cost(s, precision);
  if (launches <= 1) return cost;
  cost.bytes += bytes(real(s.input_size()) * real(launches - 1), precision);
  cost.launches = real(launches);
  cost.note = fmt::format("the weights take {} launches, and each reads the input", launches);
  return cost;
}

Cost im2col_cost(const ConvProblem& problem, Precision precision, int64_t chunks, bool in_cache) {
  const ConvShape& s = problem.shape;
  Cost cost = direct_cost(s, precision);
  cost.launches = 2 * real(chunks);
  if (in_cache) {
    cost.note =
        fmt::format("the column matrix of {} values a pixel is made in {} chunks that stay in the cache",
                    s.taps(), chunks);
  } else {
    cost.bytes += bytes(2 * real(s.n) * output_plane(s) * real(s.taps()), precision);
    cost.note = fmt::format("the column matrix of {} values a pixel is written and read once", s.taps());
  }
  return problem.activation == Activation::none
             ? cost
             : with_output_pass(std::move(cost), s, precision, "the activation");
}

Cost separable_cost(const ConvShape& s, Precision precision, int64_t rank, int64_t fused) {
  const double ranks = real(rank), pairs = real(s.n * s.c_out * s.c_in) * ranks;
  const bool down = s.k_h > 1, along = s.k_w > 1;  // a pass of a single tap is left out
  // columns that the pass along reads, of one row of outputs
  const double columns = real(std::min(s.w, (s.out_w() - 1) * s.stride.x + (s.k_w - 1) * s.dilation.x + 1));
  const double taps = (down ? real(s.out_h()) * columns * real(s.k_h) : 0) +
                      (along || !down ? output_plane(s) * real(s.k_w) : 0);
  const double weights = real(s.c_out * s.c_in * (s.k_h + s.k_w)) * ranks;
  const std::string often = rank > 1 ? fmt::format(" for each of {} ranks", rank) : "";
  const double copies = rank > 1 ? real(s.input_size()) * (1 + ranks) : 0;  // read once, written once a rank
  Cost cost;
  cost.multiply_adds = pairs * taps;
  if (fused > 0) {
    const double reads = real(s.input_size()) * ranks * real(fused);
    cost.bytes = bytes(reads + copies + weights + real(s.output_size()), precision);
    cost.launches = real(fused) + (rank > 1 ? 1 : 0);
    const std::string launches =
        fused == 1 ? "one launch" : fmt::format("each of {} launches, which all read the input", fused);
    cost.note =
        fmt::format("a pass down and one along in {}{}; halos of the blocks are left out", launches, often);
    return cost;
  }
  const double scratch = real(s.n * s.c_in) * ranks * real(s.out_h()) * real(s.w);
  const double per_map = real(s.input_size()) * ranks + 2 * scratch;
  cost.bytes = bytes(real(s.c_out) * per_map + copies + weights + real(s.output_size()), precision);
  cost.launches = 2 * real(s.c_out) + (rank > 1 ? 1 : 0);
  cost.note =
      fmt::format("two launches a map{}, with the first one's sums written and read in between", often);
  return cost;
}

Cost winograd_cost(const ConvShape& s, Precision precision, int64_t m, int64_t maps_together) {
  const int64_t side = m + 2, groups = ceil_div(s.c_out, maps_together);
  const TransformOperations& line = m == 2 ? kOperationsF2 : kOperationsF4;
  const double tiles = real(s.n * ceil_div(s.out_h(), m) * ceil_div(s.out_w(), m));
  const double maps = real(groups * maps_together);  // those beyond c_out are computed too
  const double input = 2 * real(side) * line.input * real(s.c_in) * real(groups);
  const double products = real(side * side * s.c_in) * maps;
  const double output = real(side + m) * line.output * maps;
  const double filters = real(side * side * s.c_in) * maps;
  return {
      .bytes = bytes(real(s.input_size() + s.output_size()) + filters, precision),
      .multiply_adds = tiles * (input + products + output),
      .launches = 1,
      .note = fmt::format("{} products a tile of {}x{} outputs and channel, {} maps at a time; the additions "
                          "of the transforms count as multiply-adds; filters as {} values each",
                          side * side, m, m, maps_together, side * side)};
}

Cost winograd_products_cost(const ConvShape& s, Precision precision, int64_t m) {
  const double side = real(m + 2), positions = side * side;
  const TransformOperations& line = m == 2 ? kOperationsF2 : kOperationsF4;
  const double tiles = real(s.n * ceil_div(s.out_h(), m) * ceil_div(s.out_w(), m));
  const double in_tiles = tiles * real(s.c_in), out_tiles = tiles * real(s.c_out);
  const double filters = 2 * positions * real(s.c_in * s.c_out);  // each in two parts
  const double between = 2 * positions * (in_tiles + out_tiles);
  return {.bytes = bytes(real(s.input_size() + s.output_size()) + filters + between, precision),
          .multiply_adds = in_tiles * (2 * side * line.input + 3 * positions * real(s.c_out)) +
                           out_tiles * (side + real(m)) * line.output,
          .launches = 3,
          .note = fmt::format("{0} products a tile of {1}x{1} outputs and channel, of operands in two parts "
                              "three each; tiles of {0} values are written and read once a channel and once "
                              "a map; the additions of the transforms count as multiply-adds",
                              (m + 2) * (m + 2), m)};
}

Cost fft_cost(const ConvShape& s, Precision precision, int64_t maps_together, int64_t images_together) {
  const FftPlane plane = fft_plane(s);
  const double points = real(plane.reals()), spectrum = 2 * real(plane.complexes());  // in values
  const double in_planes = real(s.n * s.c_in), out_planes = real(s.n * s.c_out);
  const double pad = real(s.input_size()) + in_planes * points;
  const double transforms = (in_planes + out_planes) * (points + spectrum);
  const double product =
      spectrum * (in_planes * real(ceil_div(s.c_out, maps_together)) +
                  real(s.c_in * s.c_out) * real(ceil_div(s.n, images_together)) + out_planes);
  const double crop = 2 * real(s.output_size());
  // a real transform takes half the 5 N log2 N operations of a complex one, two of which are a multiply-add
  const double a_transform = 1.25 * points * std::log2(points);
  const double products = 4 * real(plane.complexes()) * in_planes * real(s.c_out);
  return {.bytes = bytes(pad + transforms + product + crop, precision),
          .multiply_adds = (in_planes + out_planes) * a_transform + products,
          .launches = 5,
          .note = fmt::format(
              "planes of {}x{} padded, transformed, multiplied, transformed back and cropped, each "
              "step read and written once; 5/2 N log2 N operations a transform",
              plane.h, plane.w)};
}

Cost split_cost(const ConvShape& s, Precision precision) {
  Cost cost = direct_cost(s, precision);
  cost.multiply_adds *= 3;
  cost.note = "three products of the parts of the operands for each of the sum's";
  return cost;
}

Cost library_cost(const ConvShape& s, Precision precision, const char* library) {
  Cost cost = direct_cost(s, precision);
  cost.note = fmt::format(
      "what {} does inside is not known: counted as if each value moved once and each product were made",
      library);
  return cost;
}

Cost with_output_pass(Cost cost, const ConvShape& s, Precision precision, const char* of) {
  cost.bytes += bytes(2 * real(s.output_size()), precision);
  cost.launches += 1;
  cost.note += fmt::format("{}a pass over the output for {}", cost.note.empty() ? "" : "; ", of);
  return cost;
}

}  // namespace convscope
