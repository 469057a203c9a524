#include "app/window/difference_worker.h"

#include <cstring>
#include <exception>
#include <span>

#include "app/operation.h"
#include "app/window/chain_pool.h"
#include "kernels/error.h"

namespace convscope {
namespace {

/// What the worker keeps between requests: side B and the bound stay while only side A changes.
struct Kept {
  std::unique_ptr<ChainPool> pool;
  HostMapsPtr b;
  HostMapsPtr bound_of;  // whose frame and operation the bound is of
  int64_t reach = 0;     // of the bound
  std::shared_ptr<const std::vector<float>> bound;
};

bool same_input(const HostMaps& x, const HostMaps& y) {
  return x.frame->id == y.frame->id && x.info.precision == y.info.precision &&
         x.prepared->operation == y.prepared->operation;
}

HostMapsPtr side_b(Kept& kept, const DifferenceRequest& request, std::vector<FrameTimes>* times) {
  if (request.b) return request.b;
  const bool known = kept.b && same_input(*kept.b, *request.a) && kept.b->info.id() == request.row->info.id();
  if (!known) {
    if (!kept.pool) kept.pool = std::make_unique<ChainPool>();
    kept.b = nullptr;  // its chain may serve again
    kept.b = kept.pool->run(request.number, request.a->frame, request.a->prepared, *request.row, times);
  }
  return kept.b;
}

void make_bound(Kept& kept, const HostMapsPtr& a, const HostMapsPtr& b, int64_t reach) {
  if (kept.bound_of && kept.reach == reach && same_input(*kept.bound_of, *a)) return;
  const void* input = b->input ? b->input : a->input;
  if (!input) throw Error("difference: neither side has its input in host memory");
  const Operation& operation = a->prepared->operation;
  auto bound =
      std::make_shared<std::vector<float>>(static_cast<std::size_t>(operation.problem.shape.output_size()));
  error_bound_within(reach, operation.problem.shape, operation.weights, a->info.precision, input,
                     bound->data());
  kept.bound = std::move(bound);
  kept.reach = reach;
  kept.bound_of = b->input ? b : a;
}

template <class T>
Comparison compared(const HostMaps& a, const HostMaps& b, const std::vector<float>& bound,
                    const Tolerance& tolerance) {
  return compare(std::span(static_cast<const T*>(a.values), bound.size()),
                 std::span(static_cast<const T*>(b.values), bound.size()), std::span(bound), tolerance);
}

void serve(Kept& kept, DifferenceRequest& request, DifferenceWorker::Sink& sink) {
  DifferenceDelivery delivery;
  delivery.result.number = request.number;
  const HostMapsPtr b = side_b(kept, request, &delivery.times);
  if (sink.superseded()) return;
  const PermittedDifference permitted =
      permitted_difference(request.a->prepared->operation.problem, request.a->info, b->info);
  make_bound(kept, request.a, b, permitted.reach);
  if (sink.superseded()) return;
  delivery.result.a = request.a;
  delivery.result.b = b;
  delivery.result.bound = kept.bound;
  delivery.result.tolerance = permitted.tolerance;
  delivery.result.comparison = request.a->info.precision == Precision::fp64
                                   ? compared<double>(*request.a, *b, *kept.bound, permitted.tolerance)
                                   : compared<float>(*request.a, *b, *kept.bound, permitted.tolerance);
  if (request.pinned_b) {
    std::memcpy(request.pinned_b->data(), b->values,
                output_bytes(request.a->prepared->operation, request.a->info.precision));
  }
  if (request.pinned_bound) {
    std::memcpy(request.pinned_bound->data(), kept.bound->data(), kept.bound->size() * sizeof(float));
  }
  delivery.pinned_b = std::move(request.pinned_b);
  delivery.pinned_bound = std::move(request.pinned_bound);
  sink.deliver(std::move(delivery));
}

}  // namespace

std::size_t output_bytes(const Operation& operation, Precision precision) {
  return static_cast<std::size_t>(operation.problem.shape.output_size()) * bytes_of(precision);
}

std::unique_ptr<DifferenceWorker> make_difference_worker(std::function<void()> wake) {
  auto kept = std::make_shared<Kept>();
  auto body = [kept](DifferenceRequest& request, DifferenceWorker::Sink& sink) {
    try {
      serve(*kept, request, sink);
    } catch (const std::exception& e) {
      DifferenceDelivery failed;
      failed.result.number = request.number;
      failed.error = e.what();
      sink.deliver(std::move(failed));
    }
  };
  return std::make_unique<DifferenceWorker>(std::move(body), std::move(wake));
}

}  // namespace convscope
