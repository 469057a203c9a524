#include "app/live/live_source.h"

#include <thread>
#include <utility>

#include "app/live/live_session.h"

namespace convscope {
namespace {

using Clock = LiveSession::Clock;

}  // namespace

/// A session, the thread that reads, and the one that looks whether it is silent.
struct LiveSource::Thread {
  std::shared_ptr<LiveSession> session;
  std::thread reads, watches;
};

LiveSource::LiveSource(Open open, std::function<void()> wake, const LiveOptions& options)
    : open_(std::move(open)), wake_(std::move(wake)), options_(options) {
  if (!options_.pool) options_.pool = std::make_shared<FramePool>();
  start({});
}

void LiveSource::start(const LiveCounts& counts) {
  auto session = std::make_shared<LiveSession>(open_, wake_, options_, counts);
  reading_ = std::make_unique<Thread>();
  reading_->session = session;
  reading_->watches = std::thread([session] {
    while (session->watch()) {
    }
  });
  reading_->reads = std::thread([session] { session->run(); });
}

LiveSource::~LiveSource() {
  close();
  const Clock::time_point until = close_asked_ + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(options_.close_seconds));
  left_.push_back(std::move(*reading_));
  for (Thread& t : left_) {
    t.watches.join();  // which sleeps, and has been told
    if (t.session->wait_for_end(until)) {
      t.reads.join();
    } else {
      t.reads.detach();
    }
  }
}

void LiveSource::close() {
  if (closing_) return;
  closing_ = true;
  close_asked_ = Clock::now();
  reading_->session->end();
}

bool LiveSource::closed() const {
  if (!closing_ || !reading_->session->ended()) return false;
  for (const Thread& t : left_) {
    if (!t.session->ended()) return false;
  }
  return true;
}

void LiveSource::reopen() {
  if (closing_) return;
  LiveSession& session = *reading_->session;
  // a read that may still come gets its chance; one that hangs is left behind
  constexpr std::chrono::milliseconds kHangs{500};
  if (session.waiting(Clock::now()) < kHangs) {
    session.reopen();
    return;
  }
  const LiveStatus before = session.status(Clock::now());
  options_.playing = before.playing;
  options_.loop = before.loop;
  options_.speed = before.speed;
  options_.retry_failed |= before.read > 0;
  const LiveCounts counts = session.counts();
  session.end();
  left_.push_back(std::move(*reading_));
  start(counts);
}

FramePtr LiveSource::take_newest() { return reading_->session->take(); }
LiveStatus LiveSource::status() const { return reading_->session->status(Clock::now()); }
void LiveSource::play() { reading_->session->play(); }
void LiveSource::pause() { reading_->session->pause(); }
void LiveSource::step(int64_t frames) { reading_->session->step(frames); }
void LiveSource::seek(int64_t index) { reading_->session->seek(index); }
void LiveSource::set_loop(bool loop) { reading_->session->set_loop(loop); }
void LiveSource::set_speed(double speed) { reading_->session->set_speed(speed); }

}  // namespace convscope
