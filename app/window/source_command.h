#pragma once

#include <cstdint>

namespace convscope {

/// What is asked of a stream that is no setting, because it happens once.
struct SourceCommand {
  enum class Kind {
    play,    // from the start where it has ended
    step,    // `value` frames on or back, paused
    seek,    // to the frame `value`
    reopen,  // whatever its state
  } kind;
  int64_t value = 0;
};

}  // namespace convscope
