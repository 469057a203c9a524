#include "app/window/maps_worker.h"

#include <algorithm>
#include <exception>

#include "app/window/chain_pool.h"

namespace convscope {
namespace {

constexpr double kWarmBudgetMs = 1500;
constexpr int kMostWarmRuns = 10;

void measure(ChainPool& pool, const MapsRequest& request, int runs, MapsWorker::Sink& sink) {
  MapsDelivery warm{request.number, nullptr, {}, true, {}};
  warm.times =
      pool.measure(runs, request.frame, request.prepared, *request.row, [&] { return sink.superseded(); });
  sink.deliver(std::move(warm));
}

void serve(std::unique_ptr<ChainPool>& pool, const MapsRequest& request, MapsWorker::Sink& sink) {
  MapsDelivery delivery{request.number, nullptr, {}, false, {}};
  if (!pool) pool = std::make_unique<ChainPool>();
  if (request.measure > 0) {
    measure(*pool, request, request.measure, sink);
    return;
  }
  delivery.maps = pool->run(request.number, request.frame, request.prepared, *request.row, &delivery.times);
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
      sink.deliver({request.number, nullptr, {}, false, e.what()});
    }
  };
  return std::make_unique<MapsWorker>(std::move(body), std::move(wake));
}

}  // namespace convscope
