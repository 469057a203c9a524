#pragma once

#include <chrono>
#include <optional>

#include "app/window/callbacks.h"
#include "app/window/draw_timer.h"
#include "app/window/end_deadline.h"
#include "app/window/heat_map.h"
#include "app/window/maps_export.h"
#include "app/window/pipeline.h"
#include "app/window/race_side.h"
#include "app/window/ui.h"
#include "app/window/view_recording.h"
#include "app/window/view_stage.h"
#include "app/window/window.h"

struct GLFWwindow;

namespace convscope {

/// The running program: state, and what works on it.
struct Program {
  const WindowOptions& options;
  GLFWwindow* window;
  Events& events;
  Settings settings;
  Results results;
  Ui ui;
  Pipeline pipeline;
  ViewStage view_stage;
  RaceSide race;
  EndDeadline end{};  // members end in reverse: files before it, threads that compute after it
  ViewRecording view_recording;
  MapsExport maps_export;
  FactsSide facts{};
  HeatMap heat_map{};
  DrawTimer draw_timer{};
  GlTexture thumbnail{};
  uint64_t thumbnail_frame = 0;
  Range visible{};  // of the view pixels, kept until the next one is known
  bool quit = false;
  bool take_screenshot = false;
  int frames = 0;          // drawn so far
  double frame_begun = 0;  // seconds_now() of the frame that was drawn last
  int settled_frames = 0;  // drawn since everything was there
  std::chrono::steady_clock::time_point start{};
  std::optional<double> first_picture_ms{};  // from the start of the window to the first picture of maps
};

/// One frame, to be called with a window of at least one pixel.
void frame(Program&);
/// The part of a frame that takes over results and asks for new ones, without drawing: a stream's frames go
/// on at their own rate. Whether there is something new to see.
bool advance(Program&);
/// After the swap that showed it.
void shown(Program&);
/// Whether anything is on its way that a frame has to fetch.
bool polling(const Program&);
/// Everything that was asked for is on screen, or is known not to come.
bool settled(const Program&);

/// Keys, dropped files and what panels asked for.
void poll(Program&);
/// Saves and restores files that the dialogs named.
void file_tasks(Program&);
/// All areas of the window with their panels.
void draw_interface(Program&);

}  // namespace convscope
