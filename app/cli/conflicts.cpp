#include "app/cli/conflicts.h"

#include <fmt/format.h>

#include <vector>

#include "app/files.h"

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

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{{"kernel", kernel_is_idle},
                                     {"bank", bank_is_idle},
                                     {"weights", weights_are_idle},
                                     {"border", border_is_idle},
                                     {"separable_rank", rank_is_idle}};
  return all;
}

}  // namespace

void refuse_without_effect(const Settings& settings, const std::set<std::string>& given, Command command) {
  const auto refuse = [&](const std::string& key, const std::string& why) {
    throw UsageError(fmt::format("{}={}: {}", key, get(settings, key), why));
  };
  for (const Rule& rule : rules()) {
    if (!given.contains(rule.key)) continue;
    if (const std::string why = rule.why(settings); !why.empty()) refuse(rule.key, why);
  }
  if (command != Command::run) return;
  if (given.contains("chw")) {
    if (const std::string why = chw_is_idle(settings); !why.empty()) refuse("chw", why);
  }
  for (const char* const key : {"tab", "map", "center", "zoom", "metric", "interop"})
    if (given.contains(key)) refuse(key, "is of the window's view, which run does not have");
}

}  // namespace convscope
