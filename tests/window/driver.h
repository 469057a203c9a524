#pragma once

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace convscope::test {

using Json = nlohmann::json;

/// The program in a folder of its own, driven by real events of the X server. Ends it when it goes.
class Driver {
 public:
  /// Starts it and waits until it has come to rest.
  explicit Driver(std::vector<std::string> arguments);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// As xdotool names them: "2", "ctrl+s", "Return".
  void key(const std::string& name);
  void type(const std::string& text);
  /// Presses the key, and waits until what it opens takes letters: a dialog by its title, or "path".
  void open_dialog(const std::string& key, const std::string& dialog);
  /// The same, then types the text in the place of the one proposed, and Return; none: Return alone.
  void fill_in(const std::string& key, const std::string& dialog, const std::string& text);
  /// In window coordinates.
  void move(int x, int y);
  void click(int x, int y);
  void wheel(int x, int y, int up);
  void drag(int x, int y, int dx, int dy);
  void resize(int width, int height);
  void hide();
  void show();
  void minimise();
  void restore();
  /// Of the picture that the window shows, by a state of it at rest.
  uint64_t picture_on_screen(const Json& state) const;

  /// What the program says of itself at rest. Waits until `wanted` holds of it; fails the test, and returns
  /// the last one, where that does not come.
  Json wait_for(const std::string& what, const std::function<bool(const Json&)>& wanted, double seconds = 20);
  /// The newest state.
  Json state() const;
  /// Ctrl+Q; returns the exit code, -1 where the program does not end within ten seconds.
  int quit();
  bool running();
  /// Whether a few seconds come, sooner or later, in which it takes less than this part of a processor.
  bool rests(double part) const;
  double cpu_seconds() const;
  double resident_mib() const;
  pid_t pid() const { return pid_; }
  std::string path(const std::string& file) const { return folder_ + "/" + file; }
  const std::string& folder() const { return folder_; }
  std::string errors() const;

 private:
  void focus();
  std::string folder_, window_;
  pid_t pid_ = -1;
  int exit_code_ = 0;
};

/// Runs the program to its end (with --screenshot and so on); its exit code and what it said on stderr.
struct Ended {
  int code = 0;
  std::string errors;
};
Ended run_program(const std::vector<std::string>& arguments, const std::string& folder,
                  bool without_display = false);
std::string temporary_folder();
std::string shell(const std::string& command);
/// How many programs wait for a processor, from 1 to 8: so many times longer may things take.
double busy();

}  // namespace convscope::test
