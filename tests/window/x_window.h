#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace convscope::test {

/// A window of the X server, by its id: what a window manager does with it, where none runs, and what is to
/// be seen of it.
class XWindow {
 public:
  explicit XWindow(const std::string& id);
  ~XWindow();
  XWindow(const XWindow&) = delete;
  XWindow& operator=(const XWindow&) = delete;

  /// As ICCCM 4.1.3.1 and 4.1.4 have it: the state is said in WM_STATE, and the window unmapped or mapped.
  void minimise();
  void restore();

  /// FNV-1a of the pixels in a rectangle of the window, which must be mapped; 0 where it reaches beyond it.
  uint64_t pixels(int x, int y, int width, int height) const;

 private:
  void set_state(long state);
  struct Display;
  std::unique_ptr<Display> display_;
  unsigned long window_ = 0;
};

}  // namespace convscope::test
