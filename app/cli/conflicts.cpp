#include "app/cli/conflicts.h"

#include <fmt/format.h>

#include <vector>

#include "app/files.h"
#include "app/live/frame_reader.h"

namespace convscope {
namespace {

/// Why the setting does nothing, and what was expected; empty where it does something.
using WhyIdle = std::string (*)(const Settings&);

struct Rule {
  std::string key;
  WhyIdle why;
};

std::string kernel_is_idle(const Settings& s) {
  if (!s.kernel) return "";
  if (s.edited_weights) return "edited_weights have a size of their own, expected one of the two";
  if (!s.weights_file.empty())
    return fmt::format("the weights of {} have a size of their own, expected a bank or no kernel",
                       s.weights_file);
  return "";
}

std::string bank_is_idle(const Settings& s) {
  if (s.edited_weights) return "edited_weights override it, expected one of the two";
  if (!s.weights_file.empty())
    return fmt::format("weights={} override it, expected one of the two", s.weights_file);
  return "";
}

std::string weights_are_idle(const Settings& s) {
  return s.edited_weights && !s.weights_file.empty() ? "edited_weights override them, expected one of the two"
                                                     : "";
}

std::string border_is_idle(const Settings& s) {
  const bool none = s.pad.mode == Padding::Mode::valid ||
                    (s.pad.mode == Padding::Mode::amounts && s.pad.amounts == std::array<int64_t, 4>{});
  if (!none || s.border == Border::zero) return "";
  return fmt::format("pad={} uses no pixel beyond the edge, expected another pad", get(s, "pad"));
}

std::string rank_is_idle(const Settings& s) {
  if (s.separable_rank == 0 || s.strategy == "separable" || s.against == "separable") return "";
  return fmt::format("strategy={} computes the kernels as they are, expected strategy=separable", s.strategy);
}

std::string chw_is_idle(const Settings& s) {
  if (!s.chw || lower_ending(s.source) == ".npy") return "";
  return fmt::format("is about .npy sources, the source is {}",
                     s.source.empty() ? "the sample picture" : s.source);
}

std::string rate_is_idle(const Settings& s) {
  if (is_image_sequence(s.source)) return "";
  return fmt::format("is about folders and patterns of images, the source is {}",
                     s.source.empty() ? "the sample picture" : s.source);
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{{"kernel", kernel_is_idle},
                                     {"bank", bank_is_idle},
                                     {"weights", weights_are_idle},
                                     {"border", border_is_idle},
                                     {"separable_rank", rank_is_idle}};
  return all;
}

/// What is about the source; in the window another one may follow.
const std::vector<Rule>& source_rules() {
  static const std::vector<Rule> all{{"chw", chw_is_idle}, {"rate", rate_is_idle}};
  return all;
}

/// Keys that a command has no use for, whatever their value.
struct Unused {
  std::set<Command> commands;
  std::set<std::string> keys;
  const char* why;
};

const std::vector<Unused>& unused() {
  static const std::vector<Unused> all{
      {{Command::run, Command::stream},
       {"tab", "map", "center", "zoom", "metric", "interop"},
       "is of the window's view, which this command does not have"},
      {{Command::run, Command::stream},
       {"freeze", "frame_limit", "vsync", "bottom_tab", "race_rows", "race_sort", "race_descending"},
       "is of the window, which this command does not have"},
      {{Command::run}, {"play", "loop", "speed"}, "is about playing a stream, of which run takes one frame"},
      {{Command::stream},
       {"play", "loop", "speed"},
       "is about playing in the window; stream takes each frame once, as fast as they come"},
      {{Command::stream}, {"color_map", "range"}, "is about pictures of maps, which stream does not make"},
      {{Command::stream},
       {"against", "against_target"},
       "is about a comparison, which stream does not make"}};
  return all;
}

}  // namespace

void refuse_without_effect(const Settings& settings, const std::set<std::string>& given, Command command) {
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw UsageError(fmt::format("{}={}: {}", key, get(settings, key), why));
  };
  const auto apply = [&](const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
      if (!given.contains(rule.key)) continue;
      if (const std::string why = rule.why(settings); !why.empty()) refuse(rule.key, why);
    }
  };
  apply(rules());
  if (command == Command::window) return;
  apply(source_rules());
  for (const Unused& u : unused()) {
    if (!u.commands.contains(command)) continue;
    for (const std::string& key : u.keys)
      if (given.contains(key)) refuse(key, u.why);
  }
}

}  // namespace convscope
