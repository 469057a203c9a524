#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/recording.h"
#include "app/window/ui.h"

struct GLFWwindow;

namespace convscope {

/// Records the view as it is on screen, labels and all, whenever it shows something new.
class ViewRecording {
 public:
  /// `wake` is called from another thread when a recording has ended.
  explicit ViewRecording(std::function<void()> wake) : wake_(std::move(wake)) {}
  /// Ends a recording that goes on, within Recording::kCloseSeconds; what is wrong with it is printed.
  ~ViewRecording();
  /// Throws Error where the path cannot be written or holds a recording, or where one goes on.
  void start(const std::string& path);
  /// Asks for its end, which progress() reports when it has come.
  void stop();
  /// After a frame was drawn and before its swap. `serial` rises with every picture of the view.
  void frame(GLFWwindow*, const Ui&, uint64_t serial);
  /// How far it has come; empty where none goes on. What is to be said of its end goes to `message`.
  std::optional<RecordingProgress> progress(std::string& message);

 private:
  std::function<void()> wake_;
  std::unique_ptr<Recording> recording_;
  uint64_t recorded_ = 0;  // serial
  bool starting_ = false;  // the frame in which it was asked for, whose picture has the dialog in it
  bool stopping_ = false;
};

}  // namespace convscope
