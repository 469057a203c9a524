#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "app/settings.h"
#include "app/window/keys.h"
#include "app/window/layout.h"
#include "app/window/source_command.h"

namespace convscope {

struct Results;

struct Fonts {
  ImFont* text = nullptr;
  ImFont* bold = nullptr;
  ImFont* mono = nullptr;
};

/// The file browser's own state.
struct BrowserState {
  bool open = false, opening = false;
  bool all_files = false;
  std::string folder, filter, fault;
  struct Entry {
    std::string name;
    bool folder = false;
    int64_t bytes = 0;
  };
  std::vector<Entry> entries;  // of `folder`, folders first
  std::string listed_folder;   // what `entries` are of
  bool listed_all = false;
  int selected = 0;
  std::string select_name;  // to be selected when listed
};

/// A dialog that asks for the name of a file, and what is done with it then.
struct FileNameState {
  bool opening = false;
  std::string name;
};
enum class FileAction { save_session, load_session, export_maps, export_race, export_flow, record };

/// Where a row of a table stands in the window: for those who click without eyes.
struct RowPosition {
  std::string id;
  float x, y;
};

/// A text and when it came, in seconds_now().
struct Dated {
  std::string text;
  double at = 0;
};

/// What the interface remembers between frames that is no setting of the program.
struct Ui {
  float scale = 1;  // content scale of the monitor
  Fonts fonts;
  // areas: parts of the window
  float left = 0.265F, right = 0.21F, bottom = 0.29F;
  int focus_area = -1;  // to be focused with this frame: 0 view, 1 left, 2 right, 3 bottom
  int area = 0;         // that F6 went to last

  // the view: what is asked for, what is on screen, and the pointer in view pixels
  ViewRequest request;
  ViewLayout drawn{.cells = 0};
  uint64_t drawn_serial = 0;      // Shown::number or DifferenceResult::serial of the picture
  bool drawn_difference = false;  // the picture is of the difference tab
  bool picture_current = false;   // the picture on screen is of the newest results
  std::optional<ImVec2> pointer;
  bool difference_single = false;   // one map enlarged in the difference tab
  ImVec2 view_position{};           // of the view in the window
  ImDrawList* view_list = nullptr;  // that has this frame's picture; null where there is no room for one
  ImTextureID view_texture = nullptr, thumbnail_texture = nullptr, table_texture = nullptr;
  float thumbnail_width = 0, thumbnail_height = 0;

  bool difference_panel = true;  // its numbers are in sight
  int filter = 0, channel = 0;   // whose weights are shown
  bool help = false, focus_source = false;
  std::string source_text;     // the path field, while it is edited
  std::string source_text_of;  // the source it was made from
  BrowserState browser;
  FileNameState save, load, export_to, export_race_to, export_flow_to{false, "convscope-stream"},
      record{false, "convscope-recording.avi"};
  std::vector<RowPosition> race_rows;  // in sight

  std::vector<KeyPress> keys;   // pressed since the last frame, also those that panels use
  std::vector<Action> actions;  // asked for in this frame
  std::vector<FileAction> file_actions;
  std::vector<SourceCommand> source_commands;
  bool ask_for_cameras = false;
  std::string message;       // said by an action, for the status bar
  Dated said, note, stream;  // what the status bar may say; see date_status()
  std::string status;        // what it said in the newest frame
  std::string dialog;        // that takes letters now: its title, or "path"; empty: none does
};

/// Whether a key was pressed since the last frame, however shortly.
bool pressed(const Ui&, int key, int mods = 0);

/// Whether the difference is looked at, and so has to be computed.
inline bool wants_difference(const Settings& settings, const Ui& ui) {
  return settings.tab == ViewTab::difference || ui.difference_panel;
}

}  // namespace convscope
