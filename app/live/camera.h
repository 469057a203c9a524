#pragma once

#include <string>
#include <vector>

namespace convscope {

/// A device node that can capture video.
struct CameraNode {
  int number = 0;     // of /dev/videoN and camera:N
  std::string name;   // "Integrated Camera: Integrated C"
  std::string fault;  // why it cannot be opened now; empty where it can
};

/// The cameras of this machine in the order of their numbers. Nodes of the same cameras that carry other data
/// are left out. `classes` and `nodes`: where they are listed and where they lie.
std::vector<CameraNode> list_cameras(const std::string& classes = "/sys/class/video4linux",
                                     const std::string& nodes = "/dev");

/// Why this node cannot be used as a camera: missing, no permission, not one, used by another program; empty
/// where it can. Opens it for a moment.
std::string camera_fault(const std::string& node);

/// The same of a node that opening has answered with this errno.
std::string camera_open_fault(const std::string& node, int error);

/// camera:N[:WxH][:fps=R] taken apart; 0 where not said. Throws Error.
struct CameraRequest {
  int number = 0;
  int w = 0, h = 0;
  double fps = 0;
};
CameraRequest parse_camera(const std::string& source);

}  // namespace convscope
