#pragma once

#include <cstdint>

namespace convscope {

/// The sample picture: balloons over a mountain lake at dusk, at any size from 1x1. It has what convolutions
/// show: edges in every direction, smooth gradients, fine and regular texture, saturated colours, lettering
/// and noise. `bgr`: height rows of width pixels, 3 bytes each, no gaps. The same bits on every machine.
void draw_scene(int width, int height, uint8_t* bgr);

}  // namespace convscope
