#include "app/window/maps_worker.h"

#include <algorithm>
#include <exception>

#include "app/window/chain_pool.h"

namespace convscope {
namespace {

void measure(ChainPool& pool, const MapsRequest& request, int runs, MapsWorker::Sink& sink) {
  if (runs < 1 || sink.superseded()) return;
  MapsDelivery warm{request.number, nullptr, {}, true, {}};
  warm.times =
      pool.measure(runs, request.frame, request.prepared, *request.row, [&] { return sink.superseded(); });
  sink.deliver(std::move(warm));
}

void add_ranges(HostMaps& maps) {
  const ConvShape& s = maps.prepared->operation.problem.shape;
  maps.ranges = plane_ranges(maps.values, maps.info.precision, s.n * s.c_out, s.out_h() * s.out_w());
}

void serve(std::unique_ptr<ChainPool>& pool, MapsRequest& request, MapsWorker::Sink& sink) {
  MapsDelivery delivery{request.number, nullptr, {}, false, {}};
  if (request.read_back) {
    add_ranges(*request.read_back);
    delivery.maps = std::move(request.read_back);
    sink.deliver(std::move(delivery));
    return;
  }
  if (!pool) pool = std::make_unique<ChainPool>();
  if (request.measure > 0) {
    measure(*pool, request, request.measure, sink);
    return;
  }
  const std::shared_ptr<HostMaps> maps =
      pool->run(request.number, request.frame, request.prepared, *request.row, &delivery.times);
  add_ranges(*maps);
  const double first_ms = delivery.times.empty() ? 0 : delivery.times.back().total_ms();
  delivery.maps = maps;
  sink.deliver(std::move(delivery));
  measure(*pool, request, warm_runs(first_ms), sink);
}

}  // namespace

int warm_runs(double first_ms) {
  if (first_ms <= 0) return 0;
  // one more run than counted is made, see ChainPool::measure
  return std::clamp(static_cast<int>(250.0 / first_ms) - 1, 0, 10);
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
