#include "app/window/source_loader.h"

#include <exception>

#include "app/live/frame_reader.h"
#include "app/source.h"

namespace convscope {
namespace {

constexpr int kThumbnailSide = 384;

}  // namespace

std::unique_ptr<SourceLoader> make_source_loader(std::function<void()> wake) {
  auto body = [](SourceRequest& request, SourceLoader::Sink& sink) {
    SourceDelivery delivery;
    delivery.request = request;
    try {
      delivery.stream = is_stream(request.source);
      if (!delivery.stream) {
        delivery.frame = open_source(request.source, {.chw = request.chw});
        delivery.thumbnail = std::make_shared<Thumbnail>(make_thumbnail(*delivery.frame, kThumbnailSide));
      }
    } catch (const std::exception& e) {
      delivery.frame = nullptr;
      delivery.error = e.what();
    }
    sink.deliver(std::move(delivery));
  };
  return std::make_unique<SourceLoader>(std::move(body), std::move(wake));
}

std::unique_ptr<ThumbnailWorker> make_thumbnail_worker(std::function<void()> wake) {
  auto body = [](FramePtr& frame, ThumbnailWorker::Sink& sink) {
    try {
      sink.deliver(std::make_shared<Thumbnail>(make_thumbnail(*frame, kThumbnailSide)));
    } catch (const std::exception&) {
      // without memory for a thumbnail there is none
    }
    frame = nullptr;
  };
  return std::make_unique<ThumbnailWorker>(std::move(body), std::move(wake));
}

std::unique_ptr<CameraLister> make_camera_lister(std::function<void()> wake) {
  auto body = [](CameraQuestion&, CameraLister::Sink& sink) { sink.deliver(list_cameras()); };
  return std::make_unique<CameraLister>(std::move(body), std::move(wake));
}

}  // namespace convscope
