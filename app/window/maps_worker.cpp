#include "app/window/maps_worker.h"

#include <algorithm>
#include <exception>

#include "app/window/chain_pool.h"

namespace convscope {
namespace {

constexpr double kWarmBudgetMs = 1500;
constexpr int kMostWarmRuns = 10;

void measure(ChainPool& pool, const MapsRequest& request, int runs, MapsWorker::Sink& sink) {
  MapsDelivery warm;
  warm.number = request.number;
  warm.warm = true;
  warm.times =
      pool.measure(runs, request.frame, request.prepared, *request.row, [&] { return sink.superseded(); });
  sink.deliver(std::move(warm));
}

void serve(std::unique_ptr<ChainPool>& pool, const MapsRequest& request, MapsWorker::Sink& sink) {
  MapsDelivery delivery;
  delivery.number = request.number;
  if (!pool) pool = std::make_unique<ChainPool>();
  if (request.measure > 0) {
    measure(*pool, request, request.measure, sink);
    return;
  }
  delivery.started = seconds_now();
  delivery.maps = pool->run(request.number, request.frame, request.prepared, *request.row, &delivery.times);
  delivery.ended = seconds_now();
  sink.deliver(std::move(delivery));
}

}  // namespace

int warm_runs(double first_ms) {
  if (first_ms <= 0) return 0;
  // one more run than counted is made, see ChainPool::measure
  return std::clamp(static_cast<int>(kWarmBudgetMs / first_ms) - 1, 0, kMostWarmRuns);
}

std::unique_ptr<MapsWorker> make_maps_worker(std::function<void()> wake) {
  // the runtime is made on the worker's thread, which alone uses it
  auto pool = std::make_shared<std::unique_ptr<ChainPool>>();
  auto body = [pool](MapsRequest& request, MapsWorker::Sink& sink) {
    try {
      serve(*pool, request, sink);
    } catch (const std::exception& e) {
      MapsDelivery failed;
      failed.number = request.number;
      failed.error = e.what();
      sink.deliver(std::move(failed));
    }
  };
  return std::make_unique<MapsWorker>(std::move(body), std::move(wake));
}

}  // namespace convscope
