#pragma once

#include <string>

namespace convscope {

/// Why GStreamer does not take this pipeline, in its own words ("no element \"foo\""); empty where it does,
/// or where its library is not to be had. OpenCV, which uses the same library, keeps the reason to itself.
/// The pipeline is not started.
std::string pipeline_fault(const std::string& description);

}  // namespace convscope
