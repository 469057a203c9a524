#pragma once

#include <string>

struct GLFWwindow;

namespace convscope {

/// Saves what was drawn for the next swap as PNG, as it is on screen; returns the path. Throws Error.
std::string save_window_picture(GLFWwindow*, const std::string& path);
/// "convscope-001.png", the first that does not exist in the current folder.
std::string next_screenshot_name();

}  // namespace convscope
