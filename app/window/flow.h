#pragma once

#include <cstdint>

#include "app/ledger.h"

namespace convscope {

/// What the window knows of the stream that it follows.
struct Flow {
  bool live = false;    // the open source is a stream
  bool frozen = false;  // its frames go by; the one on screen stays
  Ledger ledger;
  FlowRates rates;        // when the window's frame was begun
  uint64_t newest = 0;    // sequence of the newest frame that the source has given
  uint64_t shown = 0;     // of the frame on screen
  double interop_ms = 0;  // of the last picture that was made in shared memory
  uint64_t behind() const { return newest > shown ? newest - shown : 0; }
};

}  // namespace convscope
