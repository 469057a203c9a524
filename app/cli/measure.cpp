#include "app/cli/measure.h"

#include <fmt/format.h>

#include <cstring>

#include "kernels/error.h"

namespace convscope {
namespace {

/// The stages of the frame that was just run.
std::vector<StageTime> finished_stages(Runtime& runtime, const std::string& name) {
  runtime.synchronise();
  const std::vector<FrameTimes> frames = runtime.stages().collect();
  if (frames.empty()) throw Error(fmt::format("{}: the times of its stages were lost", name));
  return frames.back().stages;
}

/// `bytes` of the runtime's memory on the host, and the milliseconds it took.
double download(Runtime& runtime, Buffer& pinned, const void* from, std::size_t bytes, uint64_t frame) {
  runtime.stages().begin_frame(frame);
  {
    const StageTimer timer(runtime.stages(), "download");
    runtime.download(pinned.data(), from, bytes);
  }
  runtime.stages().end_frame();
  double ms = 0;
  for (const StageTime& stage : finished_stages(runtime, "download")) ms += stage.ms;
  return ms;
}

std::vector<std::byte> copy_out(Runtime& runtime, const void* from, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  runtime.download(out.data(), from, bytes);
  runtime.synchronise();
  return out;
}

}  // namespace

double Measured::first_total_ms() const {
  double total = 0;
  for (const MeasuredStage& stage : stages) total += stage.first_ms;
  return total;
}

double Measured::total_ms() const {
  double total = 0;
  for (const MeasuredStage& stage : stages) total += stage.ms;
  return total;
}

Measured measure(const RegistryRow& row, const Operation& operation, const Frame& frame,
                 std::vector<std::byte>* input) {
  if (const auto reason = unavailable(row.info))
    throw Error(fmt::format("{} is not available on target {}: {}", row.info.name, to_string(row.info.target),
                            *reason));
  const std::unique_ptr<Runtime> runtime = make_runtime(row.info.target);
  Chain chain(*runtime);
  chain.set(row, operation);
  const ConvShape& shape = operation.problem.shape;
  const std::size_t width = bytes_of(row.info.precision);
  const std::size_t bytes = static_cast<std::size_t>(shape.output_size()) * width;

  Measured out{row.info, runtime->device_name(), {}, {}};
  const std::unique_ptr<Buffer> pinned = runtime->on_device() ? runtime->allocate_host(bytes) : nullptr;
  std::vector<StageTime> runs[2];
  double downloads[2] = {};
  for (uint64_t i = 0; i < 2; ++i) {
    chain.run(2 * i + 1, frame.pixels.data());
    runs[i] = finished_stages(*runtime, row.info.name);
    // targets of the host compute where the result is needed: nothing is transferred
    if (pinned) downloads[i] = download(*runtime, *pinned, chain.output(), bytes, 2 * i + 2);
  }
  if (!runtime->on_device()) out.stages.push_back({"upload", 0, 0});
  for (std::size_t i = 0; i < runs[1].size(); ++i)
    out.stages.push_back({runs[1][i].name, i < runs[0].size() ? runs[0][i].ms : 0, runs[1][i].ms});
  out.stages.push_back({"download", downloads[0], downloads[1]});

  if (pinned) {
    const auto* data = static_cast<const std::byte*>(pinned->data());
    out.output.assign(data, data + bytes);
  } else {
    out.output = copy_out(*runtime, chain.output(), bytes);
  }
  if (input) *input = copy_out(*runtime, chain.input(), static_cast<std::size_t>(shape.input_size()) * width);
  return out;
}

}  // namespace convscope
