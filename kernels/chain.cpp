#include "kernels/chain.h"

#include "kernels/error.h"

namespace convscope {

struct Chain::State {
  Runtime& runtime;
  Operation operation;
  std::unique_ptr<Strategy> strategy;
  std::unique_ptr<Uploads> uploads;  // null where the pixels are in the runtime's memory already
  std::unique_ptr<Buffer> unpacked, padded, result;
  bool ran = false;

  /// Planes as the strategy takes them, before the pad stage.
  int64_t unpacked_planes() const { return operation.problem.shape.n * operation.problem.shape.c_in; }
  std::size_t pixel_bytes() const {
    return operation.pixels.bytes() * static_cast<std::size_t>(operation.problem.shape.n);
  }
};

namespace {

/// A new buffer where the old one is smaller than this, else nothing.
std::unique_ptr<Buffer> larger(Runtime& runtime, const std::unique_ptr<Buffer>& old, std::size_t bytes,
                               const char* what) {
  if (old && old->bytes() >= bytes) return nullptr;
  try {
    return runtime.allocate(bytes);
  } catch (const Error& e) {
    throw Error(std::string(what) + " " + e.what());
  }
}

void reserve_uploads(Uploads* uploads, std::size_t bytes) {
  if (!uploads) return;
  try {
    uploads->reserve(bytes);
  } catch (const Error& e) {
    throw Error(std::string("the input ") + e.what());
  }
}

std::size_t plane_bytes(int64_t values, Precision precision) {
  return static_cast<std::size_t>(values) * bytes_of(precision);
}

bool same_row(const StrategyInfo& a, const StrategyInfo& b) {
  return a.name == b.name && a.target == b.target && a.precision == b.precision;
}

void validate(const Operation& op) {
  const ConvShape& shape = op.problem.shape;
  if (auto why = fault(shape)) throw Error(*why);
  if (auto why = fault(op.weights, shape)) throw Error(*why);
  const int64_t h = op.pixels.h + op.border.top + op.border.bottom,
                w = op.pixels.w + op.border.left + op.border.right;
  if (h != shape.h || w != shape.w || op.pixels.planes != shape.c_in) {
    throw Error("the image has " + std::to_string(op.pixels.planes) + " planes of " + std::to_string(w) +
                "x" + std::to_string(h) + " pixels with its border, the convolution takes " +
                std::to_string(shape.c_in) + " of " + std::to_string(shape.w) + "x" +
                std::to_string(shape.h));
  }
}

}  // namespace

Chain::Chain(Runtime& runtime) : state_(new State{runtime, {}, {}, runtime.make_uploads(), {}, {}, {}}) {}
Chain::~Chain() = default;

void Chain::set(const RegistryRow& row, const Operation& op) {
  State& s = *state_;
  if (s.strategy && same_row(s.strategy->info(), row.info) && s.operation == op) return;
  const std::string& name = row.info.name;
  if (auto why = unavailable(row.info)) throw Error(name + " is not available: " + *why);
  validate(op);
  auto strategy = row.make();
  if (auto why = strategy->refuses(op.problem, op.weights)) throw Error(name + " refuses: " + *why);
  strategy->prepare(op.problem, op.weights);

  const ConvShape& shape = op.problem.shape;
  const Precision precision = row.info.precision;
  const int64_t unpacked = shape.n * shape.c_in * op.pixels.h * op.pixels.w;
  const std::size_t padded_bytes = op.border.none() ? 0 : plane_bytes(shape.input_size(), precision);
  // All of it first: where one allocation fails, the last picture stays whole.
  reserve_uploads(s.uploads.get(), op.pixels.bytes() * static_cast<std::size_t>(shape.n));
  auto unpacked_planes = larger(s.runtime, s.unpacked, plane_bytes(unpacked, precision), "the planar input");
  auto padded = larger(s.runtime, s.padded, padded_bytes, "the border");
  auto result = larger(s.runtime, s.result, plane_bytes(shape.output_size(), precision), "the output");
  if (unpacked_planes) s.unpacked = std::move(unpacked_planes);
  if (padded) s.padded = std::move(padded);
  if (result) s.result = std::move(result);
  s.ran = false;
  s.strategy = std::move(strategy);
  s.operation = op;
}

void Chain::run(uint64_t frame, const HostPixels& host) {
  State& s = *state_;
  if (!s.strategy) throw Error("nothing to run: no operation is set");
  const Operation& op = s.operation;
  const Precision precision = s.strategy->info().precision;
  Stages& stages = s.runtime.stages();
  stages.begin_frame(frame);
  const void* pixels = s.uploads ? s.uploads->upload(frame, host, s.pixel_bytes()) : host.data;
  s.runtime.unpack(op.pixels, op.problem.shape.n, pixels, precision, s.unpacked->data());
  if (s.uploads) s.uploads->consumed();
  if (!op.border.none()) {
    s.runtime.pad(op.border, s.unpacked_planes(), op.pixels.h, op.pixels.w, precision, s.unpacked->data(),
                  s.padded->data());
  }
  s.strategy->launch(input_planes(), s.result->data(), stages);
  stages.end_frame();
  s.ran = true;
}

bool Chain::ready() const { return !state_->uploads || state_->uploads->ready(); }

const void* Chain::output() const { return state_->ran ? state_->result->data() : nullptr; }
const void* Chain::input() const { return state_->ran ? input_planes() : nullptr; }
const void* Chain::input_planes() const {
  const State& s = *state_;
  return s.operation.border.none() ? s.unpacked->data() : s.padded->data();
}
const Operation& Chain::operation() const { return state_->operation; }
const StrategyInfo& Chain::info() const { return state_->strategy->info(); }

}  // namespace convscope
