// onednn: the fast library for x86 CPUs, direct convolution in fp32, planar in and out. The library chooses
// its own layouts inside; where they differ from planes, reorders are timed as a stage of their own, since
// they are the price of that choice. Where it only has plain loops for a shape (minutes for 1080p), the
// strategy refuses.
//
// Its worker threads are libgomp's, whose spinning at barriers takes the cores from everybody else: start the
// program with OMP_WAIT_POLICY=passive.
#include <oneapi/dnnl/dnnl.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "kernels/strategies/costs.h"
#include "kernels/strategies/host_activation.h"
#include "kernels/strategies/padded_planes.h"
#include "kernels/strategies/validate.h"

namespace convscope::cpu {
namespace {

using Layout = dnnl::memory::format_tag;
using Plan = dnnl::convolution_forward::primitive_desc;

constexpr auto kFloat = dnnl::memory::data_type::f32;

struct Layouts {
  Layout in, out;
};

dnnl::memory::desc input_desc(const ConvShape& s, Layout layout) {
  return {{s.n, s.c_in, s.h, s.w}, kFloat, layout};
}
dnnl::memory::desc weights_desc(const ConvShape& s, Layout layout) {
  return {{s.c_out, s.c_in, s.k_h, s.k_w}, kFloat, layout};
}
dnnl::memory::desc output_desc(const ConvShape& s, Layout layout) {
  return {{s.n, s.c_out, s.out_h(), s.out_w()}, kFloat, layout};
}

/// tanh is right in the library: NaN stays NaN, 1 from 10 on. Its ReLU makes 0 of NaN (the GEMM path: NaN of
/// -Inf), its GEMM path's sigmoid 0 of NaN; those two are a pass of our own.
bool fused_in_library(Activation activation) { return activation == Activation::tanh; }

Plan plan_with(const ConvProblem& problem, const dnnl::engine& engine, Layouts layouts) {
  const ConvShape& s = problem.shape;
  const dnnl::memory::dims pad{s.pad.y, s.pad.x};
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, input_desc(s, layouts.in),
      weights_desc(s, Layout::any), {{s.c_out}, kFloat, Layout::x}, output_desc(s, layouts.out),
      {s.stride.y, s.stride.x}, {s.dilation.y - 1, s.dilation.x - 1}, pad, pad);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // ours, so that launch() allocates nothing
  if (fused_in_library(problem.activation)) {
    dnnl::post_ops after;
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_tanh, 0.0f, 0.0f);
    attributes.set_post_ops(after);
  }
  return Plan(desc, attributes, engine, true);  // true: an empty plan rather than an exception
}

/// Whether the library's answer is its reference loops, some 10^8 multiply-adds a second.
bool is_slow(const Plan& plan) { return std::string_view(plan.impl_info_str()).substr(0, 3) == "ref"; }

/// The fastest plan that this CPU has. With few channels and several maps, planar input straight into blocked
/// output is fastest (1080p, 3 -> 16, 3x3: 5.6 ms; through channels-last input 7.5 ms).
Plan fastest_plan(const ConvProblem& problem, const dnnl::engine& engine) {
  const bool planar_first = problem.shape.c_in <= 3 && problem.shape.c_out >= 8;
  const Layouts planar_in{Layout::nchw, Layout::any}, free{Layout::any, Layout::any};
  Plan slow;
  for (const Layouts layouts : {planar_first ? planar_in : free, planar_first ? free : planar_in}) {
    Plan plan = plan_with(problem, engine, layouts);
    if (!plan) continue;
    if (!is_slow(plan)) return plan;
    slow = plan;
  }
  return slow;
}

/// A primitive with its arguments laid out once: dnnl::primitive::execute() would allocate on every call.
class Call {
 public:
  Call() = default;
  Call(dnnl::primitive primitive, std::vector<std::pair<int, dnnl::memory>> arguments)
      : primitive_(std::move(primitive)), memories_(std::move(arguments)) {
    for (const auto& [slot, memory] : memories_) arguments_.push_back({slot, memory.get()});
  }
  void operator()(const dnnl::stream& stream) const {
    const auto count = static_cast<int>(arguments_.size());
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream.get(), count, arguments_.data()),
                            "a primitive failed");
    dnnl::error::wrap_c_api(dnnl_stream_wait(stream.get()), "a stream failed");
  }

 private:
  dnnl::primitive primitive_;
  std::vector<std::pair<int, dnnl::memory>> memories_;  // keeps alive what the arguments name
  std::vector<dnnl_exec_arg_t> arguments_;
};

class OneDnn final : public Strategy {
 public:
  explicit OneDnn(StrategyInfo info)
      : Strategy(std::move(info)), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  std::optional<std::string> refuses(const ConvProblem& problem) const override {
    const ConvShape& s = problem.shape;
    if (problem.rounding == Rounding::separate)
      return "oneDNN uses fused multiply-add; choose rounding=fused";
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (s.input_size() > kMost || s.output_size() > kMost)
      return fmt::format(
          "oneDNN's offsets are of 32 bits: {} input and {} output values, expected at most {}",
          s.input_size(), s.output_size(), kMost);
    try {
      const Plan plan = fastest_plan(problem, engine_);
      constexpr int64_t kPatience = 100'000'000;  // multiply-adds, a second of the reference loops
      if (!plan) return "oneDNN has no implementation for this shape on this CPU";
      if (is_slow(plan) && s.multiply_adds() > kPatience)
        return "oneDNN has only its slow reference loops for this shape on this CPU";
    } catch (const dnnl::error& e) {
      return fmt::format("oneDNN does not take this shape ({})", e.what());
    }
    return std::nullopt;
  }

  Cost cost(const ConvProblem& problem, const ConvWeights&) const override {
    const Cost cost = library_cost(problem.shape, Precision::fp32, "oneDNN");
    return problem.activation == Activation::none || fused_in_library(problem.activation)
               ? cost
               : with_output_pass(cost, problem.shape, Precision::fp32, "the activation");
  }

  void prepare(const ConvProblem& problem, const ConvWeights& weights) override {
    validate(*this, problem, weights);
    try {
      plan(problem, weights);
    } catch (const dnnl::error& e) {
      throw Error(fmt::format("oneDNN cannot prepare {}: {}", describe(problem.shape), e.what()));
    }
  }

  void launch(const void* in, void* out, Stages& stages) override {
    try {
      run(in, static_cast<float*>(out), stages);
    } catch (const dnnl::error& e) {
      throw Error(fmt::format("oneDNN cannot run {}: {}", describe(problem_.shape), e.what()));
    }
  }

 private:
  void plan(const ConvProblem& problem, const ConvWeights& weights) {
    problem_ = problem;
    // The library leaves padded taps out of the sum. With a weight of Inf or NaN they count (0 * Inf = NaN),
    // so the zeros are then made in memory.
    const auto finite = [](double w) { return std::isfinite(static_cast<float>(w)); };
    ConvShape& s = problem_.shape;
    padded_ = s.pad != Axes{0, 0} && !std::all_of(weights.values.begin(), weights.values.end(), finite);
    if (padded_) {
      planes_.allocate(s);
      s.h += 2 * s.pad.y;
      s.w += 2 * s.pad.x;
      s.pad = {0, 0};
    }
    const Plan plan = fastest_plan(problem_, engine_);
    const auto inside = [&](const dnnl::memory::desc& desc, const dnnl::memory& planes) {
      return planes.get_desc() == desc ? planes : dnnl::memory(desc, engine_);
    };
    in_ = dnnl::memory(input_desc(s, Layout::nchw), engine_, DNNL_MEMORY_NONE);
    out_ = dnnl::memory(output_desc(s, Layout::nchw), engine_, DNNL_MEMORY_NONE);
    const dnnl::memory inside_in = inside(plan.src_desc(), in_), inside_out = inside(plan.dst_desc(), out_);
    reorder_in_ = reorder(in_, inside_in);
    reorder_out_ = reorder(inside_out, out_);
    convolve_ = Call(
        dnnl::convolution_forward(plan),
        {{DNNL_ARG_SRC, inside_in},
         {DNNL_ARG_WEIGHTS, constant(weights.values, weights_desc(s, Layout::oihw), plan.weights_desc())},
         {DNNL_ARG_BIAS, constant(bias_or_zeros(weights), plan.bias_desc(), plan.bias_desc())},
         {DNNL_ARG_DST, inside_out},
         {DNNL_ARG_SCRATCHPAD, dnnl::memory(plan.scratchpad_desc(), engine_)}});
  }

  /// Empty where both are the same memory.
  static std::optional<Call> reorder(const dnnl::memory& from, const dnnl::memory& to) {
    if (from == to) return std::nullopt;
    return Call(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  /// Values in the layout that the library wants.
  dnnl::memory constant(const std::vector<double>& values, const dnnl::memory::desc& plain,
                        const dnnl::memory::desc& wanted) const {
    std::vector<float> rounded(values.begin(), values.end());
    const dnnl::memory from(plain, engine_, rounded.data());
    const dnnl::memory to(wanted, engine_);
    Call(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}})(stream_);
    return to;
  }

  static std::vector<double> bias_or_zeros(const ConvWeights& weights) {
    return weights.bias.empty() ? std::vector<double>(static_cast<std::size_t>(weights.c_out)) : weights.bias;
  }

  void run(const void* in, float* out, Stages& stages) {
    if (padded_) {
      const StageTimer timer(stages, "onednn pad");
      planes_.fill(static_cast<const float*>(in));
      in = planes_.row(0, 0);
    }
    in_.set_data_handle(const_cast<void*>(in));
    out_.set_data_handle(out);
    if (reorder_in_) {
      const StageTimer timer(stages, "onednn reorder");
      (*reorder_in_)(stream_);
    }
    {
      const StageTimer timer(stages, "onednn");
      convolve_(stream_);
    }
    if (reorder_out_) {
      const StageTimer timer(stages, "onednn reorder");
      (*reorder_out_)(stream_);
    }
    if (problem_.activation != Activation::none && !fused_in_library(problem_.activation)) {
      const StageTimer timer(stages, "onednn activation");
      parallel_for(problem_.shape.output_size(), 65536, [&](int64_t begin, int64_t end) {
        activate(problem_.activation, out + begin, end - begin);
      });
    }
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  ConvProblem problem_;  // as the library sees it: with the pad in the planes where padded_ is set
  bool padded_ = false;
  PaddedPlanes<float> planes_;
  dnnl::memory in_, out_;  // planar; their pointers are those of each launch
  std::optional<Call> reorder_in_, reorder_out_;
  Call convolve_;
};

}  // namespace

std::unique_ptr<Strategy> make_onednn(StrategyInfo info) { return std::make_unique<OneDnn>(std::move(info)); }

}  // namespace convscope::cpu
