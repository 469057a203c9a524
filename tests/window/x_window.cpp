#include "tests/window/x_window.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include <stdexcept>

namespace convscope::test {

struct XWindow::Display {
  ::Display* x = XOpenDisplay(nullptr);
  ~Display() {
    if (x) XCloseDisplay(x);
  }
};

XWindow::XWindow(const std::string& id) : display_(std::make_unique<Display>()), window_(std::stoul(id)) {
  if (!display_->x) throw std::runtime_error("no X server to be had");
}

XWindow::~XWindow() = default;

void XWindow::set_state(long state) {
  ::Display* const x = display_->x;
  const Atom name = XInternAtom(x, "WM_STATE", False);
  const long value[] = {state, None};  // no icon
  XChangeProperty(x, window_, name, name, 32, PropModeReplace, reinterpret_cast<const unsigned char*>(value),
                  2);
}

void XWindow::minimise() {
  set_state(IconicState);
  XUnmapWindow(display_->x, window_);
  XSync(display_->x, False);
}

void XWindow::restore() {
  set_state(NormalState);
  XMapWindow(display_->x, window_);
  XSync(display_->x, False);
}

uint64_t XWindow::pixels(int x, int y, int width, int height) const {
  ::Display* const display = display_->x;
  XWindowAttributes about;
  if (width <= 0 || height <= 0 || !XGetWindowAttributes(display, window_, &about) ||
      about.map_state != IsViewable || x < 0 || y < 0 || x + width > about.width || y + height > about.height)
    return 0;
  XImage* const image = XGetImage(display, window_, x, y, static_cast<unsigned>(width),
                                  static_cast<unsigned>(height), AllPlanes, ZPixmap);
  if (!image) return 0;
  uint64_t hash = 0xcbf29ce484222325;
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      hash = (hash ^ XGetPixel(image, column, row)) * 0x100000001b3;
  XDestroyImage(image);
  return hash;
}

}  // namespace convscope::test
