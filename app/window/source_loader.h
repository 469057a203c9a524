#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/live/camera.h"
#include "app/window/newest_worker.h"
#include "app/window/results.h"

namespace convscope {

/// Reads pictures on a thread of its own: a large file or a slow disk never stops the window. Of a source
/// that is a stream it only says so.
struct SourceRequest {
  std::string source;
  bool chw = false;
  double rate = 30;  // of image sequences
  bool operator==(const SourceRequest&) const = default;
};
struct SourceDelivery {
  SourceRequest request;
  bool stream = false;
  FramePtr frame;  // null for a stream, and where `error` says why
  std::shared_ptr<const Thumbnail> thumbnail;
  std::string error;
};
using SourceLoader = NewestWorker<SourceRequest, SourceDelivery>;
std::unique_ptr<SourceLoader> make_source_loader(std::function<void()> wake);

/// Small pictures of a stream's frames, now and then.
using ThumbnailWorker = NewestWorker<FramePtr, std::shared_ptr<const Thumbnail>>;
std::unique_ptr<ThumbnailWorker> make_thumbnail_worker(std::function<void()> wake);

/// Looks for cameras, which asks every device.
struct CameraQuestion {};
using CameraLister = NewestWorker<CameraQuestion, std::vector<CameraNode>>;
std::unique_ptr<CameraLister> make_camera_lister(std::function<void()> wake);

/// A small RGBA picture of a frame's first image; floats are stretched to their range.
Thumbnail make_thumbnail(const Frame&, int max_side);

}  // namespace convscope
