#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "app/live/live_source.h"
#include "app/window/source_command.h"
#include "app/window/source_loader.h"

namespace convscope {

/// The open source: asks for the one that the settings name, and keeps the last good one when that fails; one
/// that may come later (a camera, a server) is tried again beside it. Of a stream, frame() is the newest
/// frame. No call waits for a file or a device.
class SourceSide {
 public:
  explicit SourceSide(std::function<void()> wake);
  ~SourceSide();
  SourceSide(const SourceSide&) = delete;
  SourceSide& operator=(const SourceSide&) = delete;

  /// Asks for the settings' source if it is not the one asked for last; lets the stream play as they say.
  void request(const Settings&, Results&);
  /// Takes over what has been read, or puts the settings back with a fault.
  void collect(Settings&, Results&);
  /// The newest picture cannot be convolved as set: back to the source before, if there is one; whether there
  /// was.
  bool reject(Settings&, Results&);
  /// The newest picture has been taken by a computation.
  void accept();
  const FramePtr& frame() const { return newest_.frame; }

  /// To the stream that is open, or being opened; nothing where there is none.
  void control(const SourceCommand&);
  /// Asks for the machine's cameras anew: Results::cameras.
  void ask_for_cameras();
  /// The memory of all streams' frames.
  FramePool& pool() { return *pool_; }

 private:
  struct Opened {
    SourceRequest request;
    FramePtr frame;
    std::shared_ptr<const Thumbnail> thumbnail;
    std::shared_ptr<LiveSource> live;  // of a stream
    LiveOptions applied;               // what it was told last
    bool waits = false;                // it is not there, and tried again
  };
  void collect_pictures(Settings&, Results&);
  void collect_opening(Settings&, Results&);
  void collect_stream(Results&);
  void open_stream(const SourceRequest&, const Settings&);
  void wait_for_it(Results&);
  void take_over(Opened, Results&);
  void failed(Settings&, Results&, const std::string& text);
  void put_back(Settings&, Results&);
  void close_unused();

  std::function<void()> wake_;
  std::shared_ptr<FramePool> pool_ = std::make_shared<FramePool>();
  std::optional<SourceRequest> asked_;
  Opened newest_, accepted_;
  Opened opening_;  // a stream that has given no frame yet
  // All that are open or closing: one that hangs is waited for by nobody, and for a second when the program
  // ends.
  std::vector<std::shared_ptr<LiveSource>> streams_;
  std::chrono::steady_clock::time_point thumbnail_asked_{};
  std::unique_ptr<SourceLoader> loader_;
  std::unique_ptr<ThumbnailWorker> thumbnails_;
  std::unique_ptr<CameraLister> cameras_;
};

}  // namespace convscope
