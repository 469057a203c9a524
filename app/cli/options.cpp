#include "app/cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <set>

#include "app/cli/conflicts.h"
#include "app/image_stream.h"
#include "app/source.h"
#include "kernels/registry.h"

namespace convscope {
namespace {

/// Options as text, before they become settings.
struct Texts {
  std::string source, session, weights, bias, strategy, against, interop, size;
  std::vector<std::string> assignments;
  bool chw = false;
};

std::string source_help() {
  std::string names;
  for (const PatternInfo& pattern : patterns())
    names += fmt::format("\n    {:<11} {}", pattern.name, pattern.about);
  return fmt::format(
      "SOURCE is a file ({})\nor pattern:NAME[:WxH[xC]][:key=value...], as in "
      "pattern:noise:640x480x3:seed=7\n"
      "and pattern:constant:64x64:value=0.5; 1920x1080 where no size is given. A file whose name is\nthat of "
      "a command "
      "is opened as ./run. Patterns:{}\n\n"
      "It may be a stream as well:\n"
      "    a video file, a named pipe or a URL, whatever FFmpeg reads\n"
      "    a folder of images, frame_%04d.png or 'shot-*.png', in the order of their numbers\n"
      "    camera:N[:WxH][:fps=RATE], as in camera:0 and camera:0:1280x720:fps=60\n"
      "    gst:PIPELINE, as in 'gst:videotestsrc ! video/x-raw,width=640,height=480'\n"
      "    pattern:NAME...:fps=RATE, the pattern in motion",
      kImageFormats, names);
}

std::string settings_help() {
  std::string text = "Settings, for --set key=value and as keys of the session file:";
  for (const SettingInfo& info : setting_infos())
    text += fmt::format("\n  {:<15} {} ({})", info.key, info.about, info.values);
  return text;
}

/// An empty value comes from an unset variable in a script, and means nothing that a user can want.
CLI::Validator not_empty() {
  return {[](std::string& value) { return std::string(value.empty() ? "is empty" : ""); }, ""};
}

void add_common(CLI::App& app, Texts& texts) {
  app.add_option("--set", texts.assignments, "Set a setting, as in stride=2,3; may be given often")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--session", texts.session, "Start from the settings of a session file (JSON)")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_flag("--chw", texts.chw, "A 3-D .npy source is C x H x W, not H x W x C")->disable_flag_override();
}

void add_window(CLI::App& app, Texts& texts, CommandLine& line) {
  app.add_option("SOURCE", texts.source, "What to open; the sample picture where nothing is said")
      ->check(not_empty());
  add_common(app, texts);
  app.add_option("--screenshot", line.screenshot, "Save the window as a PNG, then end")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--frames", line.frames, "Frames to draw before the screenshot")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--state", line.state, "Write what the window shows as JSON on exit")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_option("--interop", texts.interop,
                 "Draw from CUDA's memory without a copy where the driver can: on, off")
      ->check(not_empty());
  app.add_option("--size", texts.size, "Size of the window")->type_name("WxH")->check(not_empty());
  app.add_option("--ui-scale", line.ui_scale, "Scale of text and controls; 0: the monitor's")
      ->check(CLI::Range(0.0, 8.0));
}

CLI::App* add_run(CLI::App& app, Texts& texts, CommandLine& line) {
  CLI::App* run = app.add_subcommand("run", "Convolve without a window and write maps, difference and times");
  run->add_option("SOURCE", texts.source, "What to convolve; the sample picture where nothing is said")
      ->check(not_empty());
  run->add_option("--frame", line.frame, "Which frame of a stream, counted from 0")
      ->type_name("N")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40));
  run->add_option("--weights", texts.weights, "Weights, O x I x H x W, instead of the bank's")
      ->type_name("W.npy")
      ->check(not_empty());
  run->add_option("--bias", texts.bias, "One bias a map")->type_name("B.npy")->check(not_empty());
  run->add_option("--strategy", texts.strategy, "How to compute; convscope list shows the names")
      ->type_name("NAME")
      ->check(not_empty());
  run->add_option("--against", texts.against, "The strategy to compare with (reference)")
      ->type_name("NAME")
      ->check(not_empty());
  add_common(*run, texts);
  run->add_option("--out", line.out, "Folder for the results, made where missing")
      ->type_name("DIR")
      ->check(not_empty())
      ->required();
  run->footer(
      "Writes maps.npy (N x C x H x W), maps.png, difference.png and run.json (sizes, times of every stage,\n"
      "every number of the comparison; NaN and infinities as the texts \"nan\", \"inf\", \"-inf\").\n\n" +
      source_help() + "\n\n" + settings_help() +
      "\n\nExamples:\n"
      "  convscope run photo.jpg --out out\n"
      "  convscope run photo.jpg --strategy tiled --set bank=sobel --set stride=2 --out out\n"
      "  convscope run x.npy --chw --weights w.npy --set precision=fp64 --set pad=valid --out out");
  return run;
}

CLI::App* add_stream(CLI::App& app, Texts& texts, CommandLine& line) {
  CLI::App* stream = app.add_subcommand(
      "stream",
      "Run a stream through a strategy without a window, as fast as both go, and verify its frames");
  stream->add_option("SOURCE", texts.source, "camera:N, a video, a folder, gst:PIPELINE, pattern:NAME:fps=R")
      ->check(not_empty())
      ->required();
  stream->add_option("--seconds", line.stream_seconds, "End after so long (10)")
      ->check(CLI::Range(0.1, 86400.0));
  stream->add_option("--frames", line.stream_frames, "End after so many frames")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  stream->add_option("--strategy", texts.strategy, "How to compute; convscope list shows the names")
      ->type_name("NAME")
      ->check(not_empty());
  stream->add_option("--weights", texts.weights, "Weights, O x I x H x W, instead of the bank's")
      ->type_name("W.npy")
      ->check(not_empty());
  stream->add_option("--json", line.stream_json, "Write the report as JSON")
      ->type_name("FILE")
      ->check(not_empty());
  add_common(*stream, texts);
  stream->footer(
      "Reports the rates of source and computation, dropped and repeated frames, the age of results, "
      "uploads\n"
      "and their overlap with kernels. pattern:barcode draws a number into each frame, which is read back "
      "from\n"
      "its result: exit code 1 where one is torn, old or missing.\n\nExample:\n"
      "  convscope stream pattern:barcode:1920x1080:fps=100000 --seconds 30 --set bank=random \\\n"
      "    --set stride=2 --set pad=valid --json stream.json\n\n" +
      settings_help());
  return stream;
}

CLI::App* add_list(CLI::App& app, CommandLine& line) {
  CLI::App* list = app.add_subcommand("list", "Show every strategy, and why one cannot run on this machine");
  list->add_flag("--json", line.json, "As a JSON array of name, target, precision, available, reason")
      ->disable_flag_override();
  return list;
}

CLI::App* add_check(CLI::App& app, CommandLine& line) {
  CLI::App* check = app.add_subcommand("check", "Compare every available strategy with the reference");
  check->add_flag("--json", line.json, "As a JSON array, a row a strategy")->disable_flag_override();
  check->add_flag("--quick", line.quick, "A few small shapes only")->disable_flag_override();
  return check;
}

/// Names are checked here, where they are still known to come from the command line.
void set_from_command_line(Settings& settings, const std::string& key, const std::string& value) {
  try {
    set(settings, key, value);
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
  if (key != "strategy" && key != "against") return;
  const std::vector<std::string> names = strategy_names();
  if (std::find(names.begin(), names.end(), value) == names.end())
    throw UsageError(
        fmt::format("{}={}: no such strategy, expected one of {}", key, value, fmt::join(names, ", ")));
}

/// Keys and values in the order in which they are set: --set first, then the options of their own.
std::vector<std::pair<std::string, std::string>> assignments_of(const Texts& texts) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& assignment : texts.assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      throw UsageError(fmt::format("--set {}: expected key=value, as in stride=2,3", assignment));
    out.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  if (texts.chw) out.emplace_back("chw", "on");
  const std::pair<const char*, const std::string&> options[] = {
      {"source", texts.source},     {"weights", texts.weights}, {"bias", texts.bias},
      {"strategy", texts.strategy}, {"against", texts.against}, {"interop", texts.interop}};
  for (const auto& [key, value] : options) {
    if (!value.empty()) out.emplace_back(key, value);
  }
  return out;
}

Settings settings_of(const Texts& texts, CommandLine& line) {
  Settings settings = texts.session.empty() ? Settings{} : load_session(texts.session);
  const auto assignments = assignments_of(texts);
  const auto given = [&](const char* key) {
    return std::any_of(assignments.begin(), assignments.end(), [&](const auto& a) { return a.first == key; });
  };
  // filters named on the command line are what the user wants to see, whatever the session has in their place
  if (given("bank") || given("weights")) {
    settings.edited_weights.reset();
    settings.weights_file.clear();
    settings.bias_file.clear();
  }
  for (const auto& [key, value] : assignments) set_from_command_line(settings, key, value);
  if (given("bias") && !settings.bias_file.empty() && settings.edited_weights)
    throw UsageError(
        fmt::format("bias={}: edited_weights have a bias of their own, expected edited_weights= beside it",
                    settings.bias_file));
  std::set<std::string> keys;
  for (const auto& [key, value] : assignments) keys.insert(key);
  refuse_without_effect(settings, keys, line.command);
  line.strategy_named = given("strategy");
  return settings;
}

void parse_window_size(const std::string& text, CommandLine& line) {
  if (text.empty()) return;
  const char *begin = text.data(), *end = begin + text.size();
  const auto width = std::from_chars(begin, end, line.width);
  const bool crossed = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
  const auto height = crossed ? std::from_chars(width.ptr + 1, end, line.height) : width;
  constexpr int kMost = 16384;
  const bool good = crossed && height.ec == std::errc() && height.ptr == end && line.width >= 1 &&
                    line.width <= kMost && line.height >= 1 && line.height <= kMost;
  if (!good) throw UsageError(fmt::format("--size {}: expected WxH, each from 1 to {}", text, kMost));
}

/// What stands before a command is the window's, and would be dropped without a word.
void refuse_misplaced(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) return;
  const std::string command = commands.front()->get_name();
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0)
      throw UsageError(
          fmt::format("{} stands before the command {}, expected after it: convscope {} ... (see "
                      "convscope {} --help)",
                      option->get_positional() ? option->results().front() : option->get_name(), command,
                      command, command));
  }
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::optional<CommandLine> parse_command_line(int argc, char** argv) {
  CommandLine line;
  Texts window_texts, run_texts, stream_texts;
  CLI::App app("ConvScope: how convolution runs on a GPU, and where its result differs from the CPU's.",
               "convscope");
  app.set_version_flag("--version", "convscope " CONVSCOPE_VERSION);
  app.set_help_all_flag("--help-all", "Help of all commands");
  add_window(app, window_texts, line);
  const CLI::App* run = add_run(app, run_texts, line);
  const CLI::App* stream = add_stream(app, stream_texts, line);
  const CLI::App* list = add_list(app, line);
  const CLI::App* check = add_check(app, line);
  const CLI::App* bench = add_bench(app, line.bench);
  app.require_subcommand(0, 1);
  app.footer(source_help() + "\n\n" + settings_help() +
             "\n\nExamples:\n"
             "  convscope                                  the sample picture in the window\n"
             "  convscope photo.jpg --set bank=sobel       a picture of one's own, with edges\n"
             "  convscope run photo.jpg --out out          the same without a window, into files\n"
             "  convscope list                             what this machine can run\n\n"
             "Exit codes: 0 done, 1 failed, 2 the command line was not understood.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    app.exit(e);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    throw UsageError(one_line(e.what()) + " (see convscope --help)");
  }
  refuse_misplaced(app);
  if (*list) line.command = Command::list;
  if (*check) line.command = Command::check;
  if (*bench) line.command = Command::bench;
  if (*run) line.command = Command::run;
  if (*stream) line.command = Command::stream;
  const Texts& texts = *run ? run_texts : *stream ? stream_texts : window_texts;
  line.settings = settings_of(texts, line);
  line.session = texts.session;
  parse_window_size(texts.size, line);
  return line;
}

}  // namespace convscope
