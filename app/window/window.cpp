#include "app/window/window.h"

#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <fmt/format.h>
#include <glad/gl.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "app/files.h"
#include "app/window/frame.h"
#include "app/window/screenshot.h"
#include "app/window/state_file.h"
#include "app/window/theme.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr int kLeastWidth = 1024, kLeastHeight = 640;
constexpr double kIdleWait = 0.5;       // seconds without an event until the loop looks again
constexpr double kScriptedWait = 0.05;  // between frames that only wait for results
constexpr double kPollingWait = 0.001;  // while the device is at work
constexpr double kAccountEvery = 1;     // seconds, of a stream that brings nothing new
constexpr double kStateEvery = 0.2;     // seconds between state files of a stream

std::string glfw_words() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text ? text : "no reason given";
}

class Glfw {
 public:
  Glfw() {
    if (!glfwInit()) {
      throw Error(fmt::format("no display was found ({}); convscope run works without one", glfw_words()));
    }
  }
  ~Glfw() { glfwTerminate(); }
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
};

class Window {
 public:
  explicit Window(const WindowOptions& options) {
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    int width = options.width, height = options.height;
    if (width < 1 || height < 1) first_size(&width, &height);
    handle_ = glfwCreateWindow(width, height, "ConvScope", nullptr, nullptr);
    if (!handle_) {
      throw Error(fmt::format("no OpenGL 4.5 was found ({}); convscope run works without it", glfw_words()));
    }
    glfwSetWindowSizeLimits(handle_, std::min(width, kLeastWidth), std::min(height, kLeastHeight),
                            GLFW_DONT_CARE, GLFW_DONT_CARE);
    glfwMakeContextCurrent(handle_);
    glfwSwapInterval(1);
    if (!gladLoadGL(glfwGetProcAddress)) throw Error("OpenGL 4.5: its functions could not be loaded");
  }
  ~Window() {
    if (handle_) glfwDestroyWindow(handle_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  GLFWwindow* handle() const { return handle_; }

 private:
  /// Most of the screen, within reason.
  static void first_size(int* width, int* height) {
    int x = 0, y = 0, w = 1600, h = 1000;
    if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) glfwGetMonitorWorkarea(monitor, &x, &y, &w, &h);
    *width = std::clamp(w * 9 / 10, kLeastWidth, 2400);
    *height = std::clamp(h * 9 / 10, kLeastHeight, 1400);
  }

  GLFWwindow* handle_ = nullptr;
};

class Interface {
 public:
  Interface(GLFWwindow* window, Ui& ui) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
    io.ConfigInputTextCursorBlink = false;  // a blinking cursor would redraw an idle window
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    apply_theme(ui);
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ImGui_ImplOpenGL3_Init("#version 450 core");
  }
  ~Interface() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
  }
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
};

/// Whether there is anything to draw on: neither minimised nor without area.
bool visible(GLFWwindow* window) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  return width > 0 && height > 0 && !glfwGetWindowAttrib(window, GLFW_ICONIFIED);
}

/// Draws that nobody triggers: for --screenshot and --frames.
bool scripted(const Program& p) { return !p.options.screenshot.empty() || p.options.frames > 0; }

/// Waits for something to do; how long depends on what is on its way.
void wait_for_events(Program& p, std::atomic<bool>& woken) {
  const bool more_frames = scripted(p) && p.frames < p.options.frames;
  if (!visible(p.window)) {
    glfwWaitEventsTimeout(kIdleWait);
  } else if (p.events.redraw > 0 || more_frames) {
    glfwPollEvents();
  } else {
    glfwWaitEventsTimeout(polling(p) ? kPollingWait : scripted(p) ? kScriptedWait : kIdleWait);
  }
  const bool live = p.results.flow.live;
  if (woken.exchange(false) && (!live || p.results.race.running))
    p.events.redraw = std::max(p.events.redraw, 3);
  if (scripted(p) || (polling(p) && !live)) p.events.redraw = std::max(p.events.redraw, 1);
  // of a stream only what is new is drawn, and its account once a second
  if (live && p.events.redraw == 0 && visible(p.window)) {
    const bool due = seconds_now() > p.frame_begun + kAccountEvery;
    if (advance(p) || due) p.events.redraw = std::max(p.events.redraw, 1);
  }
}

/// The picture and the state file are due: enough frames, and everything asked for is on screen.
bool finished(const Program& p) {
  // the interface shows what a frame computed in the frames after it
  return scripted(p) && p.frames >= p.options.frames && p.settled_frames >= 3;
}

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void write_state(const Program& p) {
  if (!p.options.state.empty()) write_text(p.options.state, state_json(p));
}

/// Follows the setting.
class SwapInterval {
 public:
  void set(bool vsync) {
    if (vsync == vsync_) return;
    vsync_ = vsync;
    glfwSwapInterval(vsync ? 1 : 0);
  }

 private:
  bool vsync_ = true;  // as the window is made
};

void run(Program& p, std::atomic<bool>& woken) {
  SwapInterval swap_interval;
  double stated = 0;
  while (!glfwWindowShouldClose(p.window) && !p.quit) {
    wait_for_events(p, woken);
    if (p.events.redraw == 0 || !visible(p.window)) continue;
    --p.events.redraw;
    swap_interval.set(p.settings.vsync);
    frame(p);
    if (!p.first_picture_ms && p.ui.picture_current) p.first_picture_ms = ms_since(p.start);
    const bool last = finished(p);
    if (last && !p.options.screenshot.empty()) save_window_picture(p.window, p.options.screenshot);
    const std::chrono::steady_clock::time_point swap = std::chrono::steady_clock::now();
    glfwSwapBuffers(p.window);
    p.results.timings.add("swap (host)", ms_since(swap));
    shown(p);
    if (last) break;
    const bool due = !p.results.flow.live || p.results.flow.frozen || seconds_now() > stated + kStateEvery;
    if (p.events.redraw == 0 && settled(p) && due) {
      write_state(p);
      stated = seconds_now();
    }
  }
  write_state(p);
}

float content_scale(GLFWwindow* window, const WindowOptions& options) {
  if (options.ui_scale > 0) return static_cast<float>(options.ui_scale);
  float x = 1, y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  return std::clamp(std::max(x, y), 0.75F, 4.0F);
}

}  // namespace

int run_window(const WindowOptions& options) {
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  const Glfw glfw;
  const Window window(options);
  Events events;
  install_callbacks(window.handle(), events);
  Ui ui;
  ui.scale = content_scale(window.handle(), options);
  ui.save.name = ui.load.name =
      options.session_path.empty() ? "convscope-session.json" : options.session_path;
  ui.export_to.name = ui.export_race_to.name = "convscope-export";
  const Interface interface(window.handle(), ui);
  std::atomic<bool> woken{false};
  const auto wake = [&woken] {
    woken = true;
    glfwPostEmptyEvent();
  };
  Program program{options,
                  window.handle(),
                  events,
                  options.settings,
                  {},
                  std::move(ui),
                  Pipeline(wake),
                  ViewStage(wake),
                  RaceSide(wake),
                  {},
                  ViewRecording(wake),
                  MapsExport(wake)};
  program.start = start;
  program.results.gl_renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  program.pipeline.describe_machine(program.results);
  run(program, woken);
  program.end.succeed();
  return 0;
}

}  // namespace convscope
