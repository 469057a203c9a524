#pragma once
// The stages around the strategies. Each is one kernel file compiled for both targets; Runtime calls them.

#include <cstdint>

#include "kernels/runtime.h"

#define CONVSCOPE_DECLARE_STAGES                                                                    \
  /* images x (h x w x channels, or planes if layout.planar) -> images x planes x h x w */          \
  void unpack(const PixelLayout& layout, int64_t images, const void* pixels, Precision precision,   \
              void* planes);                                                                        \
  /* planes x h x w -> planes x (top + h + bottom) x (left + w + right) */                          \
  void pad(const PadAmounts& amounts, int64_t planes, int64_t h, int64_t w, Precision precision,    \
           const void* in, void* out);                                                              \
  /* planes -> view_w x view_h floats, top row first */                                             \
  void view(const ViewLayout& layout, const ViewPlanes& planes, Precision precision, Metric metric, \
            float* out);

namespace convscope::cuda {
CONVSCOPE_DECLARE_STAGES
}
namespace convscope::emulated {
CONVSCOPE_DECLARE_STAGES
}

#undef CONVSCOPE_DECLARE_STAGES
