#pragma once

namespace convscope {

/// Adds the rows of `opencv` to the registry, after this source's own: for those who know OpenCV. Once,
/// before the registry is read.
void register_opencv_strategies();

}  // namespace convscope
