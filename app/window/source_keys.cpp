// What the keys of the source do.
#include <algorithm>
#include <cmath>

#include "app/window/keys.h"
#include "app/window/results.h"
#include "app/window/ui.h"

namespace convscope {
namespace {

constexpr double kJumpSeconds = 5;

void play_or_pause(Settings& s, const LiveStatus& live, Ui& ui) {
  if (live.state == LiveState::ended) {
    s.playing = true;
    ui.source_commands.push_back({SourceCommand::Kind::play});
  } else {
    s.playing = !s.playing;
  }
}

void step(Settings& s, int64_t frames, Ui& ui) {
  s.playing = false;
  ui.source_commands.push_back({SourceCommand::Kind::step, frames});
}

void jump(const LiveStatus& live, double seconds, Ui& ui) {
  const double fps = live.info.fps > 0 ? live.info.fps : 30;
  const int64_t to = live.index + std::llround(seconds * fps);
  ui.source_commands.push_back({SourceCommand::Kind::seek, std::max<int64_t>(0, to)});
}

/// The next of the speeds that have a name.
void change_speed(Settings& s, bool faster) {
  const std::vector<double>& speeds = named_speeds();
  if (faster) {
    const auto next = std::upper_bound(speeds.begin(), speeds.end(), s.speed);
    if (next != speeds.end()) s.speed = *next;
  } else {
    const auto at = std::lower_bound(speeds.begin(), speeds.end(), s.speed);
    if (at != speeds.begin()) s.speed = *(at - 1);
  }
}

}  // namespace

const std::vector<double>& named_speeds() {
  static const std::vector<double> speeds{0.1, 0.25, 0.5, 1, 2, 4, 8};
  return speeds;
}

bool perform_source(Action action, Settings& s, const Results& results, Ui& ui) {
  if (action < Action::play_pause || action > Action::reopen) return false;
  // without a stream the keys do nothing
  if (!results.live) return true;
  const LiveStatus& live = *results.live;
  switch (action) {
    case Action::play_pause:
      play_or_pause(s, live, ui);
      break;
    case Action::step_back:
      if (live.info.seekable) step(s, -1, ui);
      break;
    case Action::step_forward:
      step(s, 1, ui);
      break;
    case Action::jump_back:
      jump(live, -kJumpSeconds, ui);
      break;
    case Action::jump_forward:
      jump(live, kJumpSeconds, ui);
      break;
    case Action::to_start:
      ui.source_commands.push_back({SourceCommand::Kind::seek, 0});
      break;
    case Action::slower:
    case Action::faster:
      change_speed(s, action == Action::faster);
      break;
    case Action::toggle_loop:
      s.loop = !s.loop;
      break;
    case Action::reopen:
      ui.source_commands.push_back({SourceCommand::Kind::reopen});
      break;
    default:
      break;
  }
  return true;
}

}  // namespace convscope
