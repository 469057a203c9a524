#pragma once

#include <cstdint>

namespace convscope {

/// A resolution and colour chart of any size: width * height BGR pixels.
void draw_chart(int width, int height, uint8_t* bgr);

}  // namespace convscope
