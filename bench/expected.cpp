#include "bench/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "bench/machine.h"
#include "kernels/error.h"
#include "kernels/parallel.h"
#include "kernels/registry.h"
#include "kernels/targets/host_runtime.h"

namespace convscope::bench {
namespace {

/// A thread of the reference does about 7 x 10^9 multiply-adds a second.
constexpr double kMultiplyAddsAThread = 10e9;

/// `count` of 0 ... size - 1 in order, the first and the last among them where there is room.
std::vector<int64_t> choose(int64_t size, int64_t count, uint64_t seed) {
  std::vector<int64_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), int64_t{0});
  if (count >= size) return all;
  if (size > 1) std::swap(all[1], all.back());
  std::mt19937_64 random(seed);
  std::shuffle(all.begin() + std::min<int64_t>(count, 2), all.end(), random);
  all.resize(static_cast<std::size_t>(count));
  std::sort(all.begin(), all.end());
  return all;
}

struct Share {
  int64_t images, maps;
};

/// How many images and maps keep the work within the limits.
Share share_of(const ConvShape& s, const CheckLimits& limits) {
  const double most = limits.multiply_adds > 0 ? limits.multiply_adds : kMultiplyAddsAThread * thread_count();
  const double part = std::min(most / static_cast<double>(s.multiply_adds()),
                               static_cast<double>(limits.values) / static_cast<double>(s.output_size()));
  if (part >= 1) return {s.n, s.c_out};
  const auto at_least_one = [](double count) { return std::max<int64_t>(1, static_cast<int64_t>(count)); };
  const int64_t images = s.n == 1 ? 1 : at_least_one(static_cast<double>(s.n) * std::sqrt(part));
  const double planes = static_cast<double>(s.n * s.c_out) * part;
  return {images, std::min(s.c_out, at_least_one(planes / static_cast<double>(images)))};
}

ConvWeights weights_of(const ConvWeights& all, const std::vector<int64_t>& maps) {
  ConvWeights some{static_cast<int64_t>(maps.size()), all.c_in, all.k_h, all.k_w, {}, {}};
  const int64_t size = all.c_in * all.k_h * all.k_w;
  for (const int64_t map : maps) {
    const auto first = all.values.begin() + map * size;
    some.values.insert(some.values.end(), first, first + size);
    if (!all.bias.empty()) some.bias.push_back(all.bias[static_cast<std::size_t>(map)]);
  }
  return some;
}

/// A strategy that transforms tiles spreads NaN and Inf within its reach, where the bound is not finite: what
/// it has there is taken as right, but not a finite value where the reference has none.
template <class T>
void forgive_spread(std::span<T> found, std::span<const T> expected, std::span<const float> bound) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isfinite(bound[i]) || (std::isfinite(found[i]) && !std::isfinite(expected[i]))) continue;
    found[i] = expected[i];
  }
}

}  // namespace

Expected::Expected(const ConvProblem& problem, const ConvWeights& weights, Precision precision,
                   const void* in, const CheckLimits& limits)
    : whole_(problem.shape), sample_(problem.shape), problem_(problem), precision_(precision), input_(in) {
  const Share share = share_of(whole_, limits);
  images_ = choose(whole_.n, share.images, 1);
  maps_ = choose(whole_.c_out, share.maps, 2);
  sample_.n = share.images, sample_.c_out = share.maps;
  problem_.shape = sample_;
  weights_ = weights_of(weights, maps_);
  if (share.images < whole_.n) {
    const std::size_t bytes =
        static_cast<std::size_t>(whole_.c_in * whole_.h * whole_.w) * bytes_of(precision);
    for (const int64_t image : images_) {
      const auto* const first = static_cast<const std::byte*>(in) + static_cast<std::size_t>(image) * bytes;
      in_.insert(in_.end(), first, first + bytes);
    }
    input_ = in_.data();
  }
  const std::size_t bytes = static_cast<std::size_t>(sample_.output_size()) * bytes_of(precision);
  check_available(2 * bytes);
  values_.resize(bytes);
  found_.resize(values_.size());
  const auto reference = find_strategy("reference", Target::cpu, precision)->make();
  NoStages stages;
  reference->prepare(problem_, weights_);
  reference->launch(input_, values_.data(), stages);
}

std::span<const float> Expected::bound_within(int64_t reach) {
  std::vector<float>& bound = bounds_[reach];
  if (bound.empty()) {
    bound.resize(static_cast<std::size_t>(sample_.output_size()));
    error_bound_within(reach, sample_, weights_, precision_, input_, bound.data());
  }
  return bound;
}

Expected::Verdict Expected::judge(Runtime& runtime, const void* out, double error_bounds, int64_t reach) {
  return precision_ == Precision::fp64 ? judge_values<double>(runtime, out, error_bounds, reach)
                                       : judge_values<float>(runtime, out, error_bounds, reach);
}

template <class T>
Expected::Verdict Expected::judge_values(Runtime& runtime, const void* out, double error_bounds,
                                         int64_t reach) {
  const auto* const from = static_cast<const std::byte*>(out);
  const std::size_t plane = static_cast<std::size_t>(whole_.out_h() * whole_.out_w()) * sizeof(T);
  if (complete()) {
    runtime.download(found_.data(), from, found_.size());
  } else {
    std::byte* to = found_.data();
    for (const int64_t image : images_) {
      for (const int64_t map : maps_) {
        runtime.download(to, from + static_cast<std::size_t>(image * whole_.c_out + map) * plane, plane);
        to += plane;
      }
    }
  }
  runtime.synchronise();
  const auto count = static_cast<std::size_t>(sample_.output_size());
  const std::span<T> found(reinterpret_cast<T*>(found_.data()), count);
  const std::span<const T> expected(reinterpret_cast<const T*>(values_.data()), count);
  const std::span<const float> bound = bound_within(reach);
  if (reach > 0) forgive_spread<T>(found, expected, bound);
  const Comparison c =
      compare<T>(found, expected, bound, {activation_slack(problem_.activation, precision_), error_bounds});
  // non-finite values count as over tolerance: they must be where the reference has them
  Verdict verdict{c.count > 0 && c.nonfinite_mismatch == 0 && c.over_tolerance == c.nonfinite_b,
                  c.max_bound_fraction,
                  {}};
  if (!verdict.good)
    verdict.fault = fmt::format(
        "wrong: {} of {} values over {:.4g} error bounds, {} not finite where the reference is otherwise; "
        "worst at {}: {:.9g}, expected {:.9g}",
        c.over_tolerance - c.nonfinite_b, c.count, error_bounds, c.nonfinite_mismatch, place(c.worst_index),
        c.worst_a, c.worst_b);
  return verdict;
}

std::string Expected::place(int64_t index) const {
  if (index < 0) return "no value";
  const int64_t plane = index / (sample_.out_h() * sample_.out_w());
  return fmt::format("image {}, map {}, row {}, column {}",
                     images_[static_cast<std::size_t>(plane / sample_.c_out)],
                     maps_[static_cast<std::size_t>(plane % sample_.c_out)],
                     index / sample_.out_w() % sample_.out_h(), index % sample_.out_w());
}

}  // namespace convscope::bench
