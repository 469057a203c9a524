#pragma once

#include <optional>
#include <string>

#include "app/settings.h"

namespace convscope {

struct WindowOptions {
  Settings settings;
  std::string screenshot;  // PNG of the whole window, written when results are there; then the program ends
  int frames = 0;          // at least so many frames before the screenshot or the state file
  std::string state;  // JSON of what the window shows (state_file.h), written whenever it has come to rest
                      // and on exit
  int width = 0, height = 0;  // in screen coordinates; 0: a size that fits the screen
  double ui_scale = 0;        // of text and controls; 0: the monitor's content scale
  std::string session_path;   // proposed when saving; empty: convscope-session.json
};

/// Opens the window and runs until it is closed; returns the exit code. Throws Error where no display or no
/// OpenGL 4.5 is found.
int run_window(const WindowOptions&);

}  // namespace convscope
