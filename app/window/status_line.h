#pragma once

#include <string>

#include "app/settings.h"
#include "app/window/results.h"
#include "app/window/ui.h"

namespace convscope {

/// The last item of the status bar: the newest of what was refused, what an action said, why another strategy
/// took the chosen one's place, and what is wrong with the stream; where there is none of it, what goes on.
struct StatusLine {
  enum class Kind { said, warning, hint };
  Kind kind = Kind::said;
  std::string text;
};
StatusLine status_line(const Settings&, const Results&, const Ui&);

/// Keeps when each of them came; to be called whenever one may have. `now`: seconds_now().
void date_status(Ui&, const Results&, double now);

}  // namespace convscope
