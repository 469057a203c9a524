#include "app/window/status_line.h"

#include <fmt/format.h>

namespace convscope {
namespace {

void date(Dated& dated, const std::string& text, double now) {
  if (dated.text != text) dated = {text, now};
}

/// Empty where nothing is wrong with the stream.
std::string stream_words(const Results& results) {
  if (!results.live || results.live->message.empty()) return "";
  return fmt::format("{}: {}", to_string(results.live->state), results.live->message);
}

std::string activity(const Settings& settings, const Results& results, const Ui& ui) {
  if (results.computing) return "computing…";
  if (results.comparing && wants_difference(settings, ui)) return "comparing…";
  return results.measuring ? "measuring…" : "";
}

}  // namespace

void date_status(Ui& ui, const Results& results, double now) {
  date(ui.said, ui.message, now);
  date(ui.note, results.note, now);
  // a state is news once, however its words go on changing
  date(ui.stream, stream_words(results).empty() ? "" : to_string(results.live->state), now);
}

StatusLine status_line(const Settings& settings, const Results& results, const Ui& ui) {
  using Kind = StatusLine::Kind;
  StatusLine newest;
  double newest_at = 0;
  const auto offer = [&](Kind kind, const std::string& text, double at) {
    if (text.empty() || at < newest_at) return;
    newest = {kind, text};
    newest_at = at;
  };
  offer(Kind::said, ui.message, ui.said.at);
  offer(Kind::warning, results.note, ui.note.at);
  offer(Kind::warning, stream_words(results), ui.stream.at);
  if (results.fault) offer(Kind::warning, results.fault->text, results.fault->at);
  if (newest.text.empty()) newest.text = activity(settings, results, ui);
  if (newest.text.empty()) newest = {Kind::hint, "F1: keys"};
  return newest;
}

}  // namespace convscope
