#pragma once

#include <string>
#include <vector>

namespace convscope {

/// Everything that a key or a menu entry does. Actions that work on settings or on the interface's own state
/// are done by perform(); those that need the program (files, pictures) by the frame.
enum class Action {
  open_file,
  edit_source,
  save_session,
  load_session,
  export_maps,
  export_race,
  export_flow,
  record,
  screenshot,
  quit,
  play_pause,
  step_back,
  step_forward,
  jump_back,
  jump_forward,
  to_start,
  slower,
  faster,
  toggle_loop,
  reopen,
  toggle_freeze,
  strategy_1,
  strategy_2,
  strategy_3,
  strategy_4,
  strategy_5,
  strategy_6,
  strategy_7,
  strategy_8,
  strategy_9,
  next_target,
  next_precision,
  next_rounding,
  next_against,
  measure,
  race,
  tab_maps,
  tab_one,
  tab_difference,
  next_map,
  previous_map,
  next_metric,
  next_color_map,
  toggle_auto_range,
  zoom_in,
  zoom_out,
  zoom_fit,
  zoom_one,
  pan_left,
  pan_right,
  pan_up,
  pan_down,
  toggle_interop,
  toggle_vsync,
  toggle_convolution,
  next_area,
  next_bottom_tab,
  help,
  back,
};

/// A key as GLFW reports it: GLFW_KEY_*, GLFW_MOD_*.
struct KeyPress {
  int key = 0, mods = 0;
};

/// One row of the help window and of the menus.
struct KeyBinding {
  Action action;
  int key, mods;
  const char* shown;  // "Ctrl+O"
  const char* group;  // menu and heading in the help window
  const char* text;   // "Open a file…"
};

const std::vector<KeyBinding>& key_bindings();
/// The binding of an action.
const KeyBinding& binding_of(Action);
/// The action of a key; nullptr where it has none. Keys of the number pad count as their twins.
const KeyBinding* find_binding(KeyPress);

struct Settings;
struct Results;
struct Ui;
/// perform() for the actions of a stream, from play_pause to reopen; false for others.
bool perform_source(Action, Settings&, const Results&, Ui&);
/// The speeds that keys and panel offer.
const std::vector<double>& named_speeds();
/// Does what needs settings and interface state only; false where the action is the frame's.
bool perform(Action, Settings&, const Results&, Ui&);

}  // namespace convscope
