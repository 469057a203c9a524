// Playing a stream: transport, place, and what is wrong with it.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/window/panels/panels.h"
#include "app/window/panels/widgets.h"

namespace convscope {
namespace {

/// "1:02:03.4", "0:05.2"
std::string time_text(double seconds) {
  const auto tenths = static_cast<int64_t>(std::max(0.0, seconds) * 10 + 0.5);
  const int64_t s = tenths / 10 % 60, m = tenths / 600 % 60, h = tenths / 36000;
  const std::string rest = fmt::format("{:02}.{}", s, tenths % 10);
  return h > 0 ? fmt::format("{}:{:02}:{}", h, m, rest) : fmt::format("{}:{}", m, rest);
}

std::string key_of(Action action) { return binding_of(action).shown; }

void arrow(const char* id, ImGuiDir direction, Action action, bool enabled, Ui& ui) {
  ImGui::BeginDisabled(!enabled);
  ImGui::PushButtonRepeat(true);
  if (ImGui::ArrowButton(id, direction)) ui.actions.push_back(action);
  ImGui::PopButtonRepeat();
  ImGui::EndDisabled();
  tooltip(fmt::format("{} ({})", binding_of(action).text, key_of(action)));
}

void speed_choice(Settings& settings) {
  const auto text = [](double speed) { return fmt::format("{:g} x", speed); };
  ImGui::SetNextItemWidth(-1);
  if (ImGui::BeginCombo("##speed", text(settings.speed).c_str())) {
    for (const double speed : named_speeds()) {
      if (ImGui::Selectable(text(speed).c_str(), speed == settings.speed)) settings.speed = speed;
    }
    ImGui::EndCombo();
  }
  tooltip(fmt::format("Speed ({} slower, {} faster)", key_of(Action::slower), key_of(Action::faster)));
}

void transport(Settings& settings, const LiveStatus& live, Ui& ui) {
  const float gap = ImGui::GetStyle().ItemInnerSpacing.x;
  const bool playing = settings.playing && live.state != LiveState::ended;
  // of the same width whatever it says
  const float width = ImGui::CalcTextSize("Pause").x + 2 * ImGui::GetStyle().FramePadding.x;
  if (ImGui::Button(playing ? "Pause" : "Play", {width, 0})) ui.actions.push_back(Action::play_pause);
  tooltip(fmt::format("{} ({})", live.info.live ? "Hold this frame, or go on" : "Play or pause",
                      key_of(Action::play_pause)));
  ImGui::SameLine(0, gap);
  arrow("back", ImGuiDir_Left, Action::step_back, live.info.seekable, ui);
  ImGui::SameLine(0, gap);
  arrow("on", ImGuiDir_Right, Action::step_forward, true, ui);
  if (live.info.live) {
    ImGui::SameLine(0, gap);
    if (ImGui::Button("Open again")) ui.actions.push_back(Action::reopen);
    tooltip(key_of(Action::reopen));
    return;
  }
  ImGui::SameLine();
  ImGui::Checkbox("Loop", &settings.loop);
  tooltip(fmt::format("{} ({})", binding_of(Action::toggle_loop).text, key_of(Action::toggle_loop)));
  ImGui::SameLine();
  speed_choice(settings);
}

/// How many of its frames are computed a second at most.
void frame_limit(Settings& settings, const Ui& ui) {
  constexpr double kFirst = 30, kLeast = 0.1, kMost = 1000;
  control_label(ui, "Frame limit", "So many frames a second are computed at most, and others dropped");
  bool limited = settings.frame_limit > 0;
  if (ImGui::Checkbox("##limited", &limited)) settings.frame_limit = limited ? kFirst : 0;
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  if (!limited) {
    ImGui::AlignTextToFramePadding();
    dim_text("off");
    return;
  }
  ImGui::SetNextItemWidth(-1);
  ImGui::DragScalar("##limit", ImGuiDataType_Double, &settings.frame_limit, 0.25F, &kLeast, &kMost,
                    "%.4g frames/s", ImGuiSliderFlags_AlwaysClamp);
}

/// At what rate a folder or pattern of images is played.
void image_rate(Settings& settings, const Ui& ui) {
  constexpr double kLeast = 0.01, kMost = 10000;
  control_label(ui, "Rate", "Images a second. Enter opens them again with it");
  ImGui::SetNextItemWidth(-1);
  double rate = settings.rate;
  if (ImGui::InputDouble("##rate", &rate, 0, 0, "%.4g images/s", ImGuiInputTextFlags_EnterReturnsTrue))
    settings.rate = std::clamp(rate, kLeast, kMost);
}

void place(const LiveStatus& live, Ui& ui) {
  if (!live.info.seekable || live.info.frames < 2) return;
  int64_t index = live.index;
  const int64_t first = 0, last = live.info.frames - 1;
  const std::string text = live.info.seconds > 0
                               ? time_text(live.seconds) + " / " + time_text(live.info.seconds)
                               : fmt::format("frame {}", index);
  ImGui::PushFont(ui.fonts.mono);
  ImGui::SetNextItemWidth(-(ImGui::CalcTextSize(text.c_str()).x + ImGui::GetStyle().ItemInnerSpacing.x));
  const bool moved = ImGui::SliderScalar("##place", ImGuiDataType_S64, &index, &first, &last, "",
                                         ImGuiSliderFlags_NoInput | ImGuiSliderFlags_AlwaysClamp);
  ImGui::PopFont();
  if (moved && index != live.index) ui.source_commands.push_back({SourceCommand::Kind::seek, index});
  tooltip(fmt::format("Frame {} of {} ({} and {}: five seconds)", live.index, live.info.frames,
                      key_of(Action::jump_back), key_of(Action::jump_forward)));
  ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
  mono_text(ui, text, kPalette.dim);
}

bool is_fault(LiveState state) {
  return state == LiveState::stalled || state == LiveState::lost || state == LiveState::failed;
}

}  // namespace

void stream_rates(const LiveStatus& live, const Ui& ui) {
  const bool other = live.info.fps > 0 && std::fabs(live.measured_fps - live.info.fps) > 0.1 * live.info.fps;
  const bool running = live.state == LiveState::playing;
  const std::string claimed = live.info.fps > 0 ? fmt::format("of {:.4g}", live.info.fps) : "";
  mono_text(ui, fmt::format("{:.1f} {} fps", live.measured_fps, claimed),
            running && other && live.measured_fps > 0 ? kPalette.warning : kPalette.text);
  tooltip(fmt::format("Frames a second that arrive{}",
                      live.info.fps > 0 ? ", of those that the source claims" : ""));
  mono_text(ui, fmt::format("{} read, {} dropped", live.read, live.dropped), kPalette.dim);
  tooltip(
      "Frames read from the source, and how many of them were replaced by a newer one before they were used");
}

void stream_controls(Settings& settings, const LiveStatus& live, Ui& ui) {
  ImGui::PushID("stream");
  transport(settings, live, ui);
  place(live, ui);
  frame_limit(settings, ui);
  if (live.info.kind == "images") image_rate(settings, ui);
  const bool fault = is_fault(live.state);
  std::string words = to_string(live.state);
  if (!live.message.empty()) words += ": " + live.message;
  wrapped_text(fault                              ? kPalette.warning
               : live.state == LiveState::playing ? kPalette.good
                                                  : kPalette.text,
               words);
  if (fault && !live.info.live) {
    if (ImGui::Button("Open again")) ui.actions.push_back(Action::reopen);
    tooltip(key_of(Action::reopen));
  }
  if (!live.info.note.empty()) wrapped_text(kPalette.dim, live.info.note);
  ImGui::PopID();
}

}  // namespace convscope
