#pragma once

#include <string>
#include <vector>

#include "app/window/keys.h"

struct GLFWwindow;

namespace convscope {

/// What GLFW has reported since the last frame.
struct Events {
  std::vector<KeyPress> keys;
  std::vector<std::string> dropped;  // files
  int redraw = 3;                    // frames still to be drawn: the interface settles within three
};

/// Lets GLFW report to `events`; to be called before Dear ImGui installs its own callbacks, which pass on to
/// these.
void install_callbacks(GLFWwindow*, Events&);

}  // namespace convscope
