#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kernels/shape.h"
#include "kernels/strategy.h"
#include "kernels/view.h"

namespace convscope {

/// How far the image is extended: `same` keeps ceil(in / stride) pixels with the kernel's anchor on each;
/// `valid` not at all; `amounts` says pixels for top, bottom, left, right.
struct Padding {
  enum class Mode { same, valid, amounts } mode = Mode::same;
  std::array<int64_t, 4> amounts{};  // top, bottom, left, right
  bool operator==(const Padding&) const = default;
};

enum class ViewTab { maps, one, difference };
enum class ColorMap { grey, viridis, turbo, diverging };
/// What the area below the view shows.
enum class BottomTab { timings, race, roofline, strategy };
/// What the race's table is sorted by.
enum class RaceColumn {
  strategy,
  target,
  time,
  spread,
  bandwidth,
  arithmetic,
  floor,
  speed_up,
  error,
  limit
};

/// Which rows race. `automatic`: those of the shown strategy's target, and the libraries of the CPU. `cpu`
/// are its libraries; `plain` its loops that are written to be read, and slow.
struct RaceRows {
  bool automatic = true, cuda = false, emulated = false, cpu = false, plain = false;
  bool operator==(const RaceRows&) const = default;
};

/// What the user has chosen: what the panels edit, `--set` sets and the session file holds, under the same
/// names.
struct Settings {
  // source
  std::string source;  // as given to open_source; empty: the sample picture
  bool chw = false;
  double rate = 30;     // frames a second of a folder or pattern of images
  bool playing = true;  // key "play": of a stream that can be paused
  bool loop = true;     // a video begins again at its end
  double speed = 1;     // of a video, 1: as it was taken
  // filters
  std::string bank = "random";
  std::string weights_file, bias_file;        // .npy; override the bank
  std::optional<ConvWeights> edited_weights;  // edited in the window; override both
  std::optional<Axes> kernel;                 // size; empty: the bank's own
  bool convolution = false;                   // flip the weights (true convolution)
  // convolution
  Axes stride{1, 1}, dilation{1, 1};
  Padding pad;
  std::optional<Axes> anchor;  // of `same`; empty: k / 2
  Border border = Border::zero;
  Activation activation = Activation::none;
  bool unit_scale = true;  // key "scale": unit | none
  // strategy; an empty target is cuda where it is available, else emulated, else cpu
  std::string strategy = "register_tiled";
  std::optional<Target> target;
  Precision precision = Precision::fp32;
  Rounding rounding = Rounding::fused;
  int64_t separable_rank = 0;  // up to which `separable` approximates kernels; 0: key's "exact"
  std::string against = "reference";
  std::optional<Target> against_target;
  // view
  ViewTab tab = ViewTab::maps;
  int64_t map = 0;                        // of the tab `one` and of the pixel read-out
  double center_x = 0.5, center_y = 0.5;  // of the view, as a fraction of the plane
  double zoom = 0;                        // view pixels per value; 0: fit
  ColorMap color_map = ColorMap::viridis;
  bool auto_range = true;
  double range_low = 0, range_high = 1;       // where not automatic
  Metric metric = Metric::signed_difference;  // of the tab `difference`
  bool interop = true;
  // flow
  bool freeze = false;     // the frame of a stream on screen stays
  double frame_limit = 0;  // of a stream's frames, so many a second at most are computed; 0: all
  bool vsync = true;       // the window draws no more often than the monitor
  // race
  BottomTab bottom_tab = BottomTab::timings;
  RaceRows race_rows;
  RaceColumn race_sort = RaceColumn::time;
  bool race_descending = false;

  bool operator==(const Settings&) const = default;
};

/// Sets one key from text ("stride", "2,3"). Throws Error naming the key, the value and what was expected.
void set(Settings&, const std::string& key, const std::string& value);
/// "key=value".
void set(Settings&, const std::string& assignment);

struct SettingInfo {
  std::string key, values, about;  // "stride", "Y,X or one value", "..."
};
/// Every key that set() takes, in the session file's order.
const std::vector<SettingInfo>& setting_infos();
/// The value of a key as set() takes it.
std::string get(const Settings&, const std::string& key);

/// The session file: a JSON object of the keys. Loading starts from the defaults; an unknown key or a bad
/// value throws Error naming the file and the key, and changes nothing.
void save_session(const Settings&, const std::string& path);
Settings load_session(const std::string& path);

}  // namespace convscope
