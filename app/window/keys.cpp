#include "app/window/keys.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <stdexcept>

#include "app/operation.h"
#include "app/window/results.h"
#include "app/window/ui.h"

namespace convscope {
namespace {

constexpr int kCtrl = GLFW_MOD_CONTROL;

const std::vector<KeyBinding> kBindings{
    {Action::open_file, GLFW_KEY_O, kCtrl, "Ctrl+O", "File", "Open a file…"},
    {Action::edit_source, GLFW_KEY_L, kCtrl, "Ctrl+L", "File", "Type a path or pattern"},
    {Action::save_session, GLFW_KEY_S, kCtrl, "Ctrl+S", "File", "Save the session…"},
    {Action::load_session, GLFW_KEY_R, kCtrl, "Ctrl+R", "File", "Restore a session…"},
    {Action::export_maps, GLFW_KEY_E, kCtrl, "Ctrl+E", "File", "Export maps and numbers…"},
    {Action::export_race, GLFW_KEY_E, kCtrl | GLFW_MOD_SHIFT, "Ctrl+Shift+E", "File", "Export the race…"},
    {Action::export_flow, GLFW_KEY_F, kCtrl | GLFW_MOD_SHIFT, "Ctrl+Shift+F", "File",
     "Export the stream's account…"},
    {Action::record, GLFW_KEY_F10, 0, "F10", "File", "Record the view…, or end the recording"},
    {Action::screenshot, GLFW_KEY_F12, 0, "F12", "File", "Save a picture of the window"},
    {Action::quit, GLFW_KEY_Q, kCtrl, "Ctrl+Q", "File", "Quit"},
    {Action::play_pause, GLFW_KEY_SPACE, 0, "Space", "Source", "Play or pause"},
    {Action::step_back, GLFW_KEY_COMMA, 0, ",", "Source", "A frame back"},
    {Action::step_forward, GLFW_KEY_PERIOD, 0, ".", "Source", "A frame on"},
    {Action::jump_back, GLFW_KEY_LEFT, kCtrl, "Ctrl+Left", "Source", "Five seconds back"},
    {Action::jump_forward, GLFW_KEY_RIGHT, kCtrl, "Ctrl+Right", "Source", "Five seconds on"},
    {Action::to_start, GLFW_KEY_HOME, 0, "Home", "Source", "To the start"},
    {Action::slower, GLFW_KEY_LEFT_BRACKET, 0, "[", "Source", "Slower"},
    {Action::faster, GLFW_KEY_RIGHT_BRACKET, 0, "]", "Source", "Faster"},
    {Action::toggle_loop, GLFW_KEY_L, 0, "L", "Source", "Begin again at the end, or stop"},
    {Action::toggle_freeze, GLFW_KEY_F, 0, "F", "Source", "Freeze the frame on screen, or go on"},
    {Action::reopen, GLFW_KEY_F9, 0, "F9", "Source", "Open the stream again"},
    {Action::strategy_1, GLFW_KEY_1, 0, "1", "Strategy", "First strategy"},
    {Action::strategy_2, GLFW_KEY_2, 0, "2", "Strategy", "Second strategy"},
    {Action::strategy_3, GLFW_KEY_3, 0, "3", "Strategy", "Third strategy"},
    {Action::strategy_4, GLFW_KEY_4, 0, "4", "Strategy", "Fourth strategy"},
    {Action::strategy_5, GLFW_KEY_5, 0, "5", "Strategy", "Fifth strategy"},
    {Action::strategy_6, GLFW_KEY_6, 0, "6", "Strategy", "Sixth strategy"},
    {Action::strategy_7, GLFW_KEY_7, 0, "7", "Strategy", "Seventh strategy"},
    {Action::strategy_8, GLFW_KEY_8, 0, "8", "Strategy", "Eighth strategy"},
    {Action::strategy_9, GLFW_KEY_9, 0, "9", "Strategy", "Ninth strategy"},
    {Action::next_target, GLFW_KEY_T, 0, "T", "Strategy", "Next target of this strategy"},
    {Action::next_precision, GLFW_KEY_P, 0, "P", "Strategy", "fp32 or fp64"},
    {Action::next_rounding, GLFW_KEY_R, 0, "R", "Strategy", "Fused or separate rounding"},
    {Action::next_against, GLFW_KEY_B, 0, "B", "Strategy", "Next side B of the difference"},
    {Action::measure, GLFW_KEY_F5, 0, "F5", "Strategy", "Run 20 times more, for the timings"},
    {Action::race, GLFW_KEY_F7, 0, "F7", "Strategy", "Race on this frame, or end the race"},
    {Action::toggle_convolution, GLFW_KEY_V, 0, "V", "Strategy", "Correlation or true convolution"},
    {Action::tab_maps, GLFW_KEY_M, 0, "M", "View", "All maps"},
    {Action::tab_one, GLFW_KEY_O, 0, "O", "View", "One map"},
    {Action::tab_difference, GLFW_KEY_D, 0, "D", "View", "Difference"},
    {Action::next_map, GLFW_KEY_PAGE_DOWN, 0, "Page Down", "View", "Next map"},
    {Action::previous_map, GLFW_KEY_PAGE_UP, 0, "Page Up", "View", "Previous map"},
    {Action::next_metric, GLFW_KEY_X, 0, "X", "View", "Next metric of the difference"},
    {Action::next_color_map, GLFW_KEY_C, 0, "C", "View", "Next colour map"},
    {Action::toggle_auto_range, GLFW_KEY_A, 0, "A", "View", "Automatic or fixed range"},
    {Action::zoom_in, GLFW_KEY_EQUAL, 0, "+", "View", "Zoom in (or the wheel)"},
    {Action::zoom_out, GLFW_KEY_MINUS, 0, "-", "View", "Zoom out"},
    {Action::zoom_fit, GLFW_KEY_0, 0, "0", "View", "Fit"},
    {Action::zoom_one, GLFW_KEY_Z, 0, "Z", "View", "One pixel a value (1:1)"},
    {Action::pan_left, GLFW_KEY_LEFT, 0, "Left", "View", "Move left (or drag)"},
    {Action::pan_right, GLFW_KEY_RIGHT, 0, "Right", "View", "Move right"},
    {Action::pan_up, GLFW_KEY_UP, 0, "Up", "View", "Move up"},
    {Action::pan_down, GLFW_KEY_DOWN, 0, "Down", "View", "Move down"},
    {Action::toggle_interop, GLFW_KEY_I, 0, "I", "View", "CUDA-OpenGL interop on or off"},
    {Action::toggle_vsync, GLFW_KEY_Y, 0, "Y", "View", "Draw in step with the monitor (vsync), or not"},
    {Action::next_area, GLFW_KEY_F6, 0, "F6", "Window", "Keyboard focus to the next area"},
    {Action::next_bottom_tab, GLFW_KEY_F8, 0, "F8", "Window", "Timings, race, roofline, strategy"},
    {Action::back, GLFW_KEY_ESCAPE, 0, "Esc", "Window", "Back to all maps; close a dialog"},
    {Action::help, GLFW_KEY_F1, 0, "F1", "Window", "Keys and help"},
};

int main_key(int key) {
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return GLFW_KEY_0 + (key - GLFW_KEY_KP_0);
  if (key == GLFW_KEY_KP_ADD) return GLFW_KEY_EQUAL;
  if (key == GLFW_KEY_KP_SUBTRACT) return GLFW_KEY_MINUS;
  return key;
}

template <class E>
E next_of(E value, int count) {
  return static_cast<E>((static_cast<int>(value) + 1) % count);
}

/// The row after the one that `is_current` picks, among those of a precision that can run.
const StrategyRow* next_row(const Results& results, const std::string& id, bool same_name) {
  std::vector<const StrategyRow*> rows;
  for (const StrategyRow& r : results.rows) rows.push_back(&r);
  const auto current =
      std::find_if(rows.begin(), rows.end(), [&](const StrategyRow* r) { return r->row->info.id() == id; });
  if (current == rows.end()) return nullptr;
  const std::string name = (*current)->row->info.name;
  std::rotate(rows.begin(), current + 1, rows.end());
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const StrategyRow* r) {
    return !r->reason && (!same_name || r->row->info.name == name);
  });
  return found == rows.end() ? nullptr : *found;
}

void choose_strategy(Settings& s, std::size_t index) {
  const std::vector<std::string> names = strategy_names();
  if (index >= names.size()) return;
  s.strategy = names[index];
  // a target that was chosen stays where the strategy has it
  if (s.target && !find_strategy(s.strategy, *s.target, s.precision)) s.target.reset();
}

void next_target(Settings& s, const Results& results) {
  if (!results.shown) return;
  if (const StrategyRow* r = next_row(results, results.shown->info.id(), true))
    s.target = r->row->info.target;
}

void next_against(Settings& s, const Results& results) {
  try {
    const StrategyRow* r = next_row(results, against_row(s).info.id(), false);
    if (!r) return;
    s.against = r->row->info.name;
    s.against_target = r->row->info.target;
  } catch (const std::exception&) {
    // what is set is unknown in this precision; the pipeline says so
  }
}

void next_map(Settings& s, const Results& results, int64_t step) {
  if (!results.shown) return;
  const int64_t planes = results.shown->planes();
  s.map = (s.map + step + planes) % planes;
}

void go_back(Settings& s, Ui& ui) {
  if (ui.help) {
    ui.help = false;
  } else if (s.tab == ViewTab::one) {
    s.tab = ViewTab::maps;
  } else {
    ui.difference_single = false;
  }
  ui.focus_area = ui.area = 0;
}

bool perform_view(Action action, Settings& s, Ui& ui) {
  const float step = 48 * ui.scale;
  switch (action) {
    case Action::zoom_in:
      zoom_centre(s, ui.drawn, 1.25);
      return true;
    case Action::zoom_out:
      zoom_centre(s, ui.drawn, 1 / 1.25);
      return true;
    case Action::zoom_fit:
      fit(s);
      return true;
    case Action::zoom_one:
      one_to_one(s);
      return true;
    case Action::pan_left:
      pan(s, ui.drawn, step, 0);
      return true;
    case Action::pan_right:
      pan(s, ui.drawn, -step, 0);
      return true;
    case Action::pan_up:
      pan(s, ui.drawn, 0, step);
      return true;
    case Action::pan_down:
      pan(s, ui.drawn, 0, -step);
      return true;
    case Action::tab_maps:
      s.tab = ViewTab::maps;
      return true;
    case Action::tab_one:
      s.tab = ViewTab::one;
      return true;
    case Action::tab_difference:
      s.tab = ViewTab::difference;
      return true;
    default:
      return false;
  }
}

}  // namespace

bool pressed(const Ui& ui, int key, int mods) {
  return std::any_of(ui.keys.begin(), ui.keys.end(), [&](KeyPress k) {
    return (k.key == key || (key == GLFW_KEY_ENTER && k.key == GLFW_KEY_KP_ENTER)) && k.mods == mods;
  });
}

const std::vector<KeyBinding>& key_bindings() { return kBindings; }

const KeyBinding& binding_of(Action action) {
  const auto found = std::find_if(kBindings.begin(), kBindings.end(),
                                  [&](const KeyBinding& b) { return b.action == action; });
  if (found == kBindings.end()) throw std::logic_error("an action without a key");
  return *found;
}

const KeyBinding* find_binding(KeyPress press) {
  const int key = main_key(press.key);
  int mods = press.mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SHIFT | GLFW_MOD_SUPER);
  if (key == GLFW_KEY_EQUAL) mods &= ~GLFW_MOD_SHIFT;  // + is Shift and = on many keyboards
  for (const KeyBinding& b : kBindings) {
    if (b.key == key && b.mods == mods) return &b;
  }
  return nullptr;
}

bool perform(Action action, Settings& s, const Results& results, Ui& ui) {
  if (action >= Action::strategy_1 && action <= Action::strategy_9) {
    choose_strategy(s, static_cast<std::size_t>(action) - static_cast<std::size_t>(Action::strategy_1));
    return true;
  }
  if (perform_view(action, s, ui) || perform_source(action, s, results, ui)) return true;
  switch (action) {
    case Action::open_file:
      ui.browser.opening = true;
      return true;
    case Action::edit_source:
      ui.focus_source = true;
      return true;
    case Action::save_session:
      ui.save.opening = true;
      return true;
    case Action::load_session:
      ui.load.opening = true;
      return true;
    case Action::export_maps:
      ui.export_to.opening = true;
      return true;
    case Action::export_race:
      ui.export_race_to.opening = true;
      return true;
    case Action::export_flow:
      ui.export_flow_to.opening = true;
      return true;
    case Action::toggle_freeze:
      s.freeze = !s.freeze;
      return true;
    case Action::record:
      if (results.recording) return false;  // the frame ends it
      ui.record.opening = true;
      return true;
    case Action::next_target:
      next_target(s, results);
      return true;
    case Action::next_precision:
      s.precision = next_of(s.precision, 2);
      return true;
    case Action::next_rounding:
      s.rounding = next_of(s.rounding, 2);
      return true;
    case Action::next_against:
      next_against(s, results);
      return true;
    case Action::next_map:
      next_map(s, results, 1);
      return true;
    case Action::previous_map:
      next_map(s, results, -1);
      return true;
    case Action::next_metric:
      // `value` is no metric of a difference
      s.metric = static_cast<Metric>(static_cast<int>(s.metric) % 5 + 1);
      return true;
    case Action::next_color_map:
      s.color_map = next_of(s.color_map, 4);
      return true;
    case Action::toggle_auto_range:
      s.auto_range = !s.auto_range;
      if (!s.auto_range && results.range.high > results.range.low) {
        s.range_low = results.range.low, s.range_high = results.range.high;
      }
      return true;
    case Action::toggle_interop:
      s.interop = !s.interop;
      return true;
    case Action::toggle_vsync:
      s.vsync = !s.vsync;
      return true;
    case Action::toggle_convolution:
      s.convolution = !s.convolution;
      return true;
    case Action::next_area:
      ui.focus_area = ui.area = (ui.area + 1) % 4;
      return true;
    case Action::next_bottom_tab:
      s.bottom_tab = next_of(s.bottom_tab, 4);
      return true;
    case Action::help:
      ui.help = !ui.help;
      return true;
    case Action::back:
      go_back(s, ui);
      return true;
    default:
      return false;
  }
}

}  // namespace convscope
