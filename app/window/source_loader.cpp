#include "app/window/source_loader.h"

#include <exception>

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
      delivery.frame = open_source(request.source, SourceOptions{request.chw});
      delivery.thumbnail = std::make_shared<Thumbnail>(make_thumbnail(*delivery.frame, kThumbnailSide));
    } catch (const std::exception& e) {
      delivery.frame = nullptr;
      delivery.error = e.what();
    }
    sink.deliver(std::move(delivery));
  };
  return std::make_unique<SourceLoader>(std::move(body), std::move(wake));
}

}  // namespace convscope
