#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/recording.h"
#include "app/window/ui.h"

struct GLFWwindow;

namespace convscope {

/// Records the view as it is on screen, labels and all, whenever it shows something new.
class ViewRecording {
 public:
  /// Throws Error where the path cannot be written.
  void start(const std::string& path);
  /// Ends it; what is on its way to the disk is written by the time it is reported.
  void stop() { stopping_ = true; }
  /// After a frame was drawn and before its swap. `serial` rises with every picture of the view.
  void frame(GLFWwindow*, const Ui&, uint64_t serial);
  /// How far it has come; empty where none goes on. What is to be said of its end goes to `message`.
  std::optional<RecordingProgress> progress(std::string& message);
  bool on() const { return recording_ != nullptr; }

 private:
  std::unique_ptr<Recording> recording_;
  uint64_t recorded_ = 0;  // serial
  bool starting_ = false;  // the frame in which it was asked for, whose picture has the dialog in it
  bool stopping_ = false;
};

}  // namespace convscope
