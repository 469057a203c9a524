#include "app/live/camera.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

constexpr const char* kExpected = "expected camera:N, camera:N:WxH or camera:N:WxH:fps=RATE";

class Node {
 public:
  // not blocking: some drivers wait at open() for a device that is asleep
  explicit Node(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {}
  ~Node() {
    if (fd_ >= 0) ::close(fd_);
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  int fd() const { return fd_; }

  int control(unsigned long request, void* data) const {
    int result = 0;
    do {
      result = ::ioctl(fd_, request, data);
    } while (result < 0 && errno == EINTR);
    return result;
  }

 private:
  int fd_;
};

std::optional<uint32_t> capabilities(const Node& node) {
  v4l2_capability about{};
  if (node.control(VIDIOC_QUERYCAP, &about) != 0) return std::nullopt;
  return about.capabilities & V4L2_CAP_DEVICE_CAPS ? about.device_caps : about.capabilities;
}

template <class T>
bool parse_all(const std::string& text, T& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string camera_open_fault(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return fmt::format("{}: there is no such camera", path);
    case EACCES:
    case EPERM:
      return fmt::format("{}: no permission; your user has to be in the group \"video\"", path);
    case EBUSY:
      return fmt::format("{}: used by another program", path);
    default:
      return fmt::format("{}: cannot be opened: {}", path, std::strerror(error));
  }
}

std::string camera_fault(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return camera_open_fault(path, errno);
  if (!S_ISCHR(status.st_mode)) return fmt::format("{}: is no device", path);
  const Node node(path);
  if (node.fd() < 0) return camera_open_fault(path, errno);
  const std::optional<uint32_t> can = capabilities(node);
  if (!can) return fmt::format("{}: is no video device", path);
  if (!(*can & V4L2_CAP_VIDEO_CAPTURE)) return fmt::format("{}: does not capture video", path);
  // a driver refuses to set the format, even the one that is set, while another program streams
  v4l2_format format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  if (node.control(VIDIOC_G_FMT, &format) == 0 && node.control(VIDIOC_S_FMT, &format) != 0 && errno == EBUSY)
    return camera_open_fault(path, EBUSY);
  return "";
}

std::vector<CameraNode> list_cameras(const std::string& classes, const std::string& nodes) {
  std::vector<CameraNode> cameras;
  std::error_code fault;
  for (fs::directory_iterator at(classes, fault), end; !fault && at != end; at.increment(fault)) {
    const std::string node = at->path().filename().string();
    CameraNode camera;
    if (!node.starts_with("video") || !parse_all(node.substr(5), camera.number)) continue;
    std::ifstream name(at->path() / "name");
    std::getline(name, camera.name);
    const std::string path = (fs::path(nodes) / node).string();
    {
      const Node opened(path);
      const std::optional<uint32_t> can = opened.fd() >= 0 ? capabilities(opened) : std::nullopt;
      // what cannot be asked stays in the list, with the reason; metadata and output nodes do not
      if (can && !(*can & V4L2_CAP_VIDEO_CAPTURE)) continue;
    }
    camera.fault = camera_fault(path);
    cameras.push_back(std::move(camera));
  }
  std::sort(cameras.begin(), cameras.end(),
            [](const CameraNode& a, const CameraNode& b) { return a.number < b.number; });
  return cameras;
}

CameraRequest parse_camera(const std::string& source) {
  CameraRequest request;
  std::string rest = source;
  const std::string device = "/dev/video";
  if (source.starts_with(device)) {
    rest = source.substr(device.size());
  } else if (source.starts_with("camera:")) {
    rest = source.substr(7);
  }
  bool good = true;
  for (std::size_t start = 0, n = 0; start <= rest.size() && good; ++n) {
    const std::size_t end = std::min(rest.find(':', start), rest.size());
    const std::string part = rest.substr(start, end - start);
    const std::size_t cross = part.find('x');
    if (n == 0) {
      good = parse_all(part, request.number) && request.number >= 0;
    } else if (part.starts_with("fps=")) {
      good = parse_all(part.substr(4), request.fps) && request.fps > 0 && request.fps <= 10000;
    } else {
      good = cross != std::string::npos && parse_all(part.substr(0, cross), request.w) &&
             parse_all(part.substr(cross + 1), request.h) && request.w > 0 && request.h > 0 &&
             request.w <= 32768 && request.h <= 32768;
    }
    start = end + 1;
  }
  if (!good) throw Error(fmt::format("{}: {}", source, kExpected));
  return request;
}

}  // namespace convscope
