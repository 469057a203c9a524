#include "app/window/callbacks.h"

#include <GLFW/glfw3.h>

namespace convscope {
namespace {

constexpr int kFramesAfterEvent = 3;

Events& events(GLFWwindow* window) {
  auto& e = *static_cast<Events*>(glfwGetWindowUserPointer(window));
  e.redraw = kFramesAfterEvent;
  return e;
}

}  // namespace

void install_callbacks(GLFWwindow* window, Events& to) {
  glfwSetWindowUserPointer(window, &to);
  glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int, int action, int mods) {
    Events& e = events(w);
    if (action != GLFW_RELEASE) e.keys.push_back({key, mods});
  });
  glfwSetCharCallback(window, [](GLFWwindow* w, unsigned) { events(w); });
  glfwSetCursorPosCallback(window, [](GLFWwindow* w, double, double) { events(w); });
  glfwSetCursorEnterCallback(window, [](GLFWwindow* w, int) { events(w); });
  glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int, int, int) { events(w); });
  glfwSetScrollCallback(window, [](GLFWwindow* w, double, double) { events(w); });
  glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int) { events(w); });
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { events(w); });
  glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { events(w); });
  glfwSetWindowIconifyCallback(window, [](GLFWwindow* w, int) { events(w); });
  glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
    events(w).dropped.assign(paths, paths + count);
  });
}

}  // namespace convscope
