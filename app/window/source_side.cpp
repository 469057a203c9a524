#include "app/window/source_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace convscope {
namespace {

constexpr std::chrono::milliseconds kThumbnailEvery{500};

/// What the settings say of playing goes to the stream where it has changed.
void apply(const Settings& settings, LiveSource& live, LiveOptions& applied) {
  if (applied.loop != settings.loop) live.set_loop(applied.loop = settings.loop);
  if (applied.speed != settings.speed) live.set_speed(applied.speed = settings.speed);
  if (applied.playing == settings.playing) return;
  applied.playing = settings.playing;
  settings.playing ? live.play() : live.pause();
}

}  // namespace

SourceSide::SourceSide(std::function<void()> wake)
    : wake_(wake),
      loader_(make_source_loader(wake)),
      thumbnails_(make_thumbnail_worker(wake)),
      cameras_(make_camera_lister(wake)) {
  ask_for_cameras();
}

SourceSide::~SourceSide() {
  // all of them first, so that their seconds of patience run together
  for (const auto& live : streams_) live->close();
}

void SourceSide::request(const Settings& settings, Results& results) {
  if (newest_.live) apply(settings, *newest_.live, newest_.applied);
  if (opening_.live) apply(settings, *opening_.live, opening_.applied);
  const SourceRequest wanted{settings.source, settings.chw, settings.rate};
  if (asked_ == wanted) return;
  asked_ = wanted;
  opening_ = {};
  loader_->submit(wanted);
  results.opening = true;
}

void SourceSide::collect(Settings& settings, Results& results) {
  collect_pictures(settings, results);
  if (opening_.live) collect_opening(settings, results);
  if (newest_.live) collect_stream(results);
  const Opened& told = opening_.live ? opening_ : newest_;
  results.live.reset();
  if (told.live) results.live = told.live->status();
  results.live_beside = told.live && told.live != newest_.live && newest_.frame;
  for (std::vector<CameraNode>& found : cameras_->collect()) results.cameras = std::move(found);
  close_unused();
}

void SourceSide::collect_pictures(Settings& settings, Results& results) {
  for (SourceDelivery& d : loader_->collect()) {
    const bool meanwhile = opening_.waits && !newest_.frame && d.frame && d.request == SourceRequest{};
    if (meanwhile) take_over({d.request, std::move(d.frame), std::move(d.thumbnail), nullptr, {}}, results);
    if (d.request != asked_) continue;
    if (d.stream) {
      open_stream(d.request, settings);
      continue;
    }
    results.opening = false;
    if (d.frame) {
      take_over({d.request, std::move(d.frame), std::move(d.thumbnail), nullptr, {}}, results);
    } else {
      failed(settings, results, d.error);
    }
  }
}

void SourceSide::open_stream(const SourceRequest& request, const Settings& settings) {
  LiveOptions options;
  options.playing = settings.playing;
  options.loop = settings.loop;
  options.speed = settings.speed;
  options.pool = pool_;
  options.retry_failed = may_come(request.source);
  opening_ = {request, nullptr, nullptr, open_live(request.source, {request.rate}, wake_, options), options};
  streams_.push_back(opening_.live);
}

void SourceSide::collect_opening(Settings& settings, Results& results) {
  if (FramePtr frame = opening_.live->take_newest()) {
    results.opening = false;
    opening_.frame = std::move(frame);
    take_over(std::exchange(opening_, {}), results);
    return;
  }
  const LiveStatus status = opening_.live->status();
  const bool over = status.state == LiveState::failed || status.state == LiveState::lost ||
                    status.state == LiveState::ended;
  if (!over) return;
  if (opening_.applied.retry_failed && status.state != LiveState::ended) {
    wait_for_it(results);
    return;
  }
  results.opening = false;
  const std::string text = status.message.empty()
                               ? fmt::format("{}: ended before its first frame", opening_.request.source)
                               : status.message.substr(0, status.message.find("; trying again"));
  failed(settings, results, text);
}

/// It is tried again beside the picture that is shown, and its status says so; where none is shown yet,
/// beside the sample picture.
void SourceSide::wait_for_it(Results& results) {
  if (std::exchange(opening_.waits, true)) return;
  results.opening = false;
  if (results.fault && results.fault->key == "source") results.fault.reset();
  if (!newest_.frame) loader_->submit({});
}

void SourceSide::collect_stream(Results& results) {
  if (FramePtr frame = newest_.live->take_newest()) {
    newest_.frame = std::move(frame);
    results.source = newest_.frame;
  }
  for (auto& thumbnail : thumbnails_->collect()) {
    newest_.thumbnail = std::move(thumbnail);
    results.thumbnail = newest_.thumbnail;
  }
  const auto now = std::chrono::steady_clock::now();
  const bool shown = newest_.thumbnail && newest_.thumbnail->frame == newest_.frame->id;
  if (shown || thumbnails_->busy() || now - thumbnail_asked_ < kThumbnailEvery) return;
  thumbnail_asked_ = now;
  thumbnails_->submit(newest_.frame);
}

void SourceSide::take_over(Opened opened, Results& results) {
  if (results.fault && results.fault->key == "source" && newest_.frame) results.fault.reset();
  newest_ = std::move(opened);
  results.source = newest_.frame;
  results.thumbnail = newest_.thumbnail;
  thumbnail_asked_ = {};
}

void SourceSide::failed(Settings& settings, Results& results, const std::string& text) {
  opening_ = {};
  results.fault = Fault{"source", text};
  if (newest_.frame) {
    put_back(settings, results);
  } else if (!settings.source.empty()) {
    settings.source.clear();  // nothing was open yet: the sample picture
    settings.chw = false;
  }
}

void SourceSide::put_back(Settings& settings, Results& results) {
  settings.source = newest_.request.source;
  settings.chw = newest_.request.chw;
  settings.rate = newest_.request.rate;
  asked_ = newest_.request;
  results.source = newest_.frame;
  results.thumbnail = newest_.thumbnail;
}

bool SourceSide::reject(Settings& settings, Results& results) {
  if (!accepted_.frame || accepted_.frame == newest_.frame) return false;
  newest_ = accepted_;
  opening_ = {};
  put_back(settings, results);
  return true;
}

void SourceSide::accept() { accepted_ = newest_; }

void SourceSide::control(const SourceCommand& command) {
  const std::shared_ptr<LiveSource>& live = opening_.live ? opening_.live : newest_.live;
  if (!live) return;
  switch (command.kind) {
    case SourceCommand::Kind::play:
      live->play();
      break;
    case SourceCommand::Kind::step:
      live->step(command.value);
      break;
    case SourceCommand::Kind::seek:
      live->seek(command.value);
      break;
    case SourceCommand::Kind::reopen:
      live->reopen();
      break;
  }
}

void SourceSide::ask_for_cameras() { cameras_->submit({}); }

/// A stream that neither is shown nor can become so again is closed, and let go once it has ended.
void SourceSide::close_unused() {
  std::erase_if(streams_, [this](const std::shared_ptr<LiveSource>& live) {
    if (live == newest_.live || live == accepted_.live || live == opening_.live) return false;
    live->close();
    return live->closed();
  });
}

}  // namespace convscope
