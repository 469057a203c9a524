#include "app/live/gst_parse.h"

#include <dlfcn.h>

#include <cstdint>

namespace convscope {
namespace {

/// GLib's GError (gerror.h), part of its stable interface.
struct GError {
  uint32_t domain;
  int code;
  char* message;
};

template <class F>
F symbol(void* library, const char* name) {
  return reinterpret_cast<F>(::dlsym(library, name));
}

/// The message, which is GLib's to free.
std::string take(GError* error, void (*free_error)(GError*)) {
  if (!error) return "";
  const std::string text = error->message ? error->message : "no reason given";
  free_error(error);
  return text;
}

}  // namespace

std::string pipeline_fault(const std::string& description) {
  // loaded once by OpenCV's plug-in or library and never unloaded
  void* const gst = ::dlopen("libgstreamer-1.0.so.0", RTLD_NOW | RTLD_GLOBAL);
  if (!gst) return "";
  const auto init = symbol<int (*)(int*, char***, GError**)>(gst, "gst_init_check");
  const auto parse = symbol<void* (*)(const char*, GError**)>(gst, "gst_parse_launch");
  const auto unref = symbol<void (*)(void*)>(gst, "gst_object_unref");
  const auto free_error = symbol<void (*)(GError*)>(gst, "g_error_free");
  if (!init || !parse || !unref || !free_error) return "";
  GError* error = nullptr;
  if (!init(nullptr, nullptr, &error)) return take(error, free_error);
  void* const pipeline = parse(description.c_str(), &error);
  const std::string fault = take(error, free_error);
  if (pipeline) unref(pipeline);
  return fault.substr(0, fault.find('\n'));
}

}  // namespace convscope
