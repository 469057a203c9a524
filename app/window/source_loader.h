#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/window/newest_worker.h"
#include "app/window/results.h"

namespace convscope {

/// Reads pictures on a thread of its own: a large file or a slow disk never stops the window.
struct SourceRequest {
  std::string source;
  bool chw = false;
};
struct SourceDelivery {
  SourceRequest request;
  FramePtr frame;  // null where `error` says why
  std::shared_ptr<const Thumbnail> thumbnail;
  std::string error;
};
using SourceLoader = NewestWorker<SourceRequest, SourceDelivery>;

std::unique_ptr<SourceLoader> make_source_loader(std::function<void()> wake);

/// A small RGBA picture of a frame's first image; floats are stretched to their range.
Thumbnail make_thumbnail(const Frame&, int max_side);

}  // namespace convscope
