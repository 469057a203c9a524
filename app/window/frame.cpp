#include "app/window/frame.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>

#include "app/window/panels/panels.h"
#include "app/window/screenshot.h"
#include "app/window/status_line.h"
#include "app/window/view_colors.h"
#include "kernels/error.h"

namespace convscope {
namespace {

using Clock = std::chrono::steady_clock;

ImTextureID texture_id(GLuint name) { return reinterpret_cast<ImTextureID>(static_cast<intptr_t>(name)); }

/// The value under the pointer, or the one in the middle of the view.
void read_pixel(Program& p) {
  PixelReadout& pixel = p.results.pixel;
  pixel = {};
  const ViewLayout& l = p.ui.drawn;
  if (!p.results.shown || l.cells == 0) return;
  const Shown& shown = *p.results.shown;
  if (l.plane_w != shown.shape().out_w() || l.plane_h != shown.shape().out_h()) return;
  std::optional<PlanePosition> at;
  if (p.ui.pointer) at = position_at(l, p.ui.pointer->x, p.ui.pointer->y);
  pixel.at_pointer = at && at->inside;
  if (!pixel.at_pointer) {
    const auto cell = static_cast<int>(std::clamp<int64_t>(p.settings.map - l.first_plane, 0, l.cells - 1));
    const CellPosition corner = cell_position(l, cell);
    at = position_at(l, corner.x + l.cell_w / 2.0, corner.y + l.cell_h / 2.0);
  }
  if (!at || !at->inside || at->plane >= shown.planes()) return;
  pixel.valid = true;
  pixel.plane = at->plane;
  pixel.y = static_cast<int64_t>(std::floor(at->y));
  pixel.x = static_cast<int64_t>(std::floor(at->x));
  if (shown.host) pixel.a = shown.host->value(pixel.plane, pixel.y, pixel.x);
  const auto& d = p.results.difference;
  if (!d || d->number != shown.number) return;
  pixel.b = d->b->value(pixel.plane, pixel.y, pixel.x);
  const ConvShape& s = shown.shape();
  pixel.bound =
      (*d->bound)[static_cast<std::size_t>((pixel.plane * s.out_h() + pixel.y) * s.out_w() + pixel.x)];
}

WantDifference difference_wanted(const Program& p) {
  if (p.settings.tab == ViewTab::difference) return WantDifference::picture;
  return wants_difference(p.settings, p.ui) ? WantDifference::numbers : WantDifference::no;
}

/// Brings the planes that the tab shows to the view buffer.
void bring_views(Program& p) {
  const bool difference = p.settings.tab == ViewTab::difference;
  const std::optional<ViewedPlanes> planes =
      difference ? p.pipeline.difference_planes(p.results) : p.pipeline.value_planes(p.results);
  if (p.results.shown) {
    // the panels asked for the maps of the frame before, which may have been of another size
    const ConvShape& shape = p.results.shown->shape();
    p.ui.request.planes = p.results.shown->planes();
    p.ui.request.plane_w = shape.out_w(), p.ui.request.plane_h = shape.out_h();
  }
  const ViewLayout layout = make_layout(p.ui.request, p.settings);
  const Metric metric = difference ? p.settings.metric : Metric::value;
  try {
    if (planes) p.view_stage.update(*planes, layout, metric, p.settings.interop, p.results.timings);
  } catch (const Error& e) {
    p.view_stage.forget_device();
    p.pipeline.device_failed(p.settings, p.results, e.what());
  }
  if (planes && difference && p.view_stage.has(planes->serial)) {
    p.pipeline.drawn(planes->serial);
    p.pipeline.difference_times(p.results.flow.ledger, planes->frame);
  }
  const auto& drawn = p.view_stage.drawn();
  p.results.flow.interop_ms = p.view_stage.interop_ms();
  if (drawn && drawn->ended > 0) p.results.flow.ledger.view(drawn->frame, drawn->started, drawn->ended);
  const bool was_current = p.ui.picture_current;
  p.ui.picture_current = planes && drawn && p.view_stage.range() && drawn->serial == planes->serial &&
                         drawn->metric == metric && same_view(drawn->layout, layout);
  // what this frame's overlay says of the picture was written before
  const bool following = p.results.flow.live && !p.results.flow.frozen;
  if (p.ui.picture_current != was_current && !following) p.events.redraw = std::max(p.events.redraw, 1);
}

/// What is in the view buffer, through the colours.
void color_views(Program& p) {
  const auto& drawn = p.view_stage.drawn();
  // The first picture waits for a range, its own or, where pictures come with every frame, that of one
  // before; later ones take the last until theirs is known.
  if (!drawn || (!p.view_stage.last_range() && p.heat_map.texture() == 0)) return;
  p.visible = p.view_stage.last_range().value_or(p.visible);
  p.ui.drawn = drawn->layout;
  p.ui.drawn_serial = drawn->serial;
  p.ui.drawn_difference = drawn->metric != Metric::value;
  p.results.range = view_range(p.settings, p.results, p.ui.drawn_difference, p.visible);
  p.heat_map.draw(p.view_stage.buffer(), p.results.range,
                  logarithmic_range(p.settings, p.ui.drawn_difference) && p.results.range.low > 0,
                  view_color_map(p.settings, p.ui.drawn_difference));
  p.ui.view_texture = texture_id(p.heat_map.texture());
}

void update_thumbnail(Program& p) {
  if (!p.results.thumbnail || p.results.thumbnail->frame == p.thumbnail_frame) return;
  const Thumbnail& t = *p.results.thumbnail;
  p.thumbnail = GlTexture::make();
  glTextureStorage2D(p.thumbnail.id(), 1, GL_RGBA8, t.width, t.height);
  glTextureSubImage2D(p.thumbnail.id(), 0, 0, 0, t.width, t.height, GL_RGBA, GL_UNSIGNED_BYTE, t.rgba.data());
  glTextureParameteri(p.thumbnail.id(), GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTextureParameteri(p.thumbnail.id(), GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  p.thumbnail_frame = t.frame;
  p.ui.thumbnail_texture = texture_id(p.thumbnail.id());
  p.ui.thumbnail_width = static_cast<float>(t.width);
  p.ui.thumbnail_height = static_cast<float>(t.height);
}

void interop_state(Program& p) {
  const bool device = p.results.shown && p.results.shown->info.target == Target::cuda;
  p.results.interop = device && p.view_stage.buffer().shared();
  p.results.interop_reason = p.view_stage.reason(p.settings.interop);
  if (p.results.interop_reason.empty() && !device) p.results.interop_reason = "host memory";
}

/// Dear ImGui looks at keys once a frame: one that went down and up again since the last frame would be lost
/// on it. Such keys are down for this frame; release_keys() lets them go after it.
void hold_keys(const Program& p) {
  ImGuiIO& io = ImGui::GetIO();
  for (const KeyPress press : p.ui.keys) {
    if (press.key >= 0 && press.key < IM_ARRAYSIZE(io.KeysDown)) io.KeysDown[press.key] = true;
    io.KeyCtrl |= (press.mods & GLFW_MOD_CONTROL) != 0;
    io.KeyShift |= (press.mods & GLFW_MOD_SHIFT) != 0;
  }
}

void release_keys(const Program& p) {
  ImGuiIO& io = ImGui::GetIO();
  const auto down = [&](int key) { return glfwGetKey(p.window, key) == GLFW_PRESS; };
  for (const KeyPress press : p.ui.keys) {
    if (press.key >= 0 && press.key < IM_ARRAYSIZE(io.KeysDown)) io.KeysDown[press.key] = down(press.key);
  }
  io.KeyCtrl = down(GLFW_KEY_LEFT_CONTROL) || down(GLFW_KEY_RIGHT_CONTROL);
  io.KeyShift = down(GLFW_KEY_LEFT_SHIFT) || down(GLFW_KEY_RIGHT_SHIFT);
}

/// An OpenGL error is a fault of the program: it is said, and the program goes on.
void report_gl(Program& p) {
  try {
    check_gl("frame");
  } catch (const Error& e) {
    p.ui.message = e.what();
    fmt::print(stderr, "{}\n", e.what());
  }
}

void begin_interface(Program& p) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  hold_keys(p);
  ImGui::NewFrame();
  const bool difference = p.ui.drawn_difference;
  p.ui.table_texture = texture_id(p.heat_map.table(view_color_map(p.settings, difference)));
}

void render(Program& p) {
  ImGui::Render();
  int width = 0, height = 0;
  glfwGetFramebufferSize(p.window, &width, &height);
  glViewport(0, 0, width, height);
  glClearColor(0.094F, 0.102F, 0.122F, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace

void frame(Program& p) {
  const Clock::time_point start = Clock::now();
  p.frame_begun = seconds_now();
  poll(p);
  p.pipeline.collect(p.settings, p.results);
  if (p.results.flow.live) p.results.flow.rates = p.results.flow.ledger.rates(p.frame_begun);
  p.race.collect(p.results);
  p.facts.update(p.results);
  update_thumbnail(p);
  begin_interface(p);
  draw_interface(p);
  file_tasks(p);
  date_status(p.ui, p.results, seconds_now());  // before what update() may refuse, which is newer
  p.pipeline.update(p.settings, p.results, difference_wanted(p));
  p.draw_timer.begin();
  bring_views(p);
  color_views(p);
  view_overlay(p.settings, p.results, p.ui);
  render(p);
  p.draw_timer.end();
  p.view_recording.frame(p.window, p.ui, p.view_stage.buffer().serial());
  p.results.recording = p.view_recording.progress(p.ui.message);
  release_keys(p);
  interop_state(p);
  read_pixel(p);
  if (const auto ms = p.draw_timer.collect()) p.results.timings.add("draw (GL)", *ms);
  p.results.timings.add("frame (host)",
                        std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  report_gl(p);
  if (p.take_screenshot) {
    p.ui.message = "saved " + save_window_picture(p.window, next_screenshot_name());
    p.take_screenshot = false;
  }
  date_status(p.ui, p.results, seconds_now());
  ++p.frames;
  p.settled_frames = settled(p) ? p.settled_frames + 1 : 0;
}

bool advance(Program& p) {
  Results& r = p.results;
  const auto seen = [&] {
    return std::tuple(p.view_stage.buffer().serial(), r.opening, r.computing, r.comparing, r.measuring,
                      r.fault ? r.fault->at : 0, r.thumbnail.get(), r.live ? r.live->state : LiveState::ended,
                      r.live ? r.live->message : std::string());
  };
  const auto before = seen();
  p.pipeline.collect(p.settings, r);
  p.pipeline.update(p.settings, r, difference_wanted(p));
  bring_views(p);
  return seen() != before;
}

void shown(Program& p) {
  const auto& drawn = p.view_stage.drawn();
  Ledger& ledger = p.results.flow.ledger;
  const double now = seconds_now();
  if (p.results.flow.live) ledger.show(drawn ? drawn->frame : 0, p.frame_begun, now);
  ledger.tick(now);
}

bool polling(const Program& p) { return p.pipeline.polling() || p.view_stage.polling(); }

bool settled(const Program& p) {
  const Results& r = p.results;
  const bool following = r.flow.live && !r.flow.frozen;
  // a stream goes on while another source is being opened
  if (r.computing || (!following && (r.opening || r.measuring || polling(p)))) return false;
  if (!r.shown) return r.fault.has_value();
  // a stream never comes to rest: something of it is on screen, whatever frame
  if (following) return p.view_stage.drawn().has_value();
  if (!r.shown->host) return false;
  if (wants_difference(p.settings, p.ui)) {
    const bool there = r.difference && r.difference->number == r.shown->number;
    if (r.comparing || (!there && r.difference_fault.empty())) return false;
  }
  return p.ui.picture_current || p.ui.request.width < 1 || !r.difference_fault.empty();
}

}  // namespace convscope
