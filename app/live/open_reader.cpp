// Which kind of stream a SOURCE is.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "app/files.h"
#include "app/live/camera.h"
#include "app/live/live_source.h"
#include "app/live/readers.h"
#include "app/source.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

enum class Kind { still, pattern, camera, gst, sequence, video };

bool has_video_ending(const std::string& path) {
  const std::vector<std::string>& endings = video_endings();
  return std::find(endings.begin(), endings.end(), lower_ending(path)) != endings.end();
}

/// The first bytes of containers whose files may be called anything.
bool begins_as_video(const std::string& path) {
  std::array<char, 16> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  const std::string_view text(head.data(), head.size());
  using namespace std::string_view_literals;
  return text.substr(4, 4) == "ftyp"sv || (text.starts_with("RIFF"sv) && text.substr(8, 4) == "AVI "sv) ||
         text.starts_with("\x1a\x45\xdf\xa3"sv) || text.starts_with("OggS"sv) ||
         text.starts_with("FLV\x01"sv) || text.starts_with("\0\0\1\xba"sv) ||
         text.starts_with("YUV4MPEG2"sv) || text.starts_with("GIF8"sv);
}

/// A name with * or ?, or with one %d, that is no file itself.
bool is_name_pattern(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  if (name.find_first_of("*?") != std::string::npos) return true;
  const std::size_t percent = name.find('%');
  if (percent == std::string::npos) return false;
  const std::size_t end = name.find_first_not_of("0123456789", percent + 1);
  return end != std::string::npos && name[end] == 'd';
}

bool is_pipe(const std::string& source) {
  struct stat status {};
  return ::stat(source.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

/// Whether it names a camera as it should.
bool is_camera_request(const std::string& source) {
  try {
    parse_camera(source);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Kind kind_of(const std::string& source) {
  if (source.starts_with("camera:")) return Kind::camera;
  if (source.starts_with("gst:")) return Kind::gst;
  if (source.starts_with("pattern:"))
    return source.find(":fps=") == std::string::npos ? Kind::still : Kind::pattern;
  if (is_url(source)) return Kind::video;
  struct stat status {};
  if (::stat(source.c_str(), &status) != 0) {
    if (is_name_pattern(source)) return Kind::sequence;
    if (source.starts_with("/dev/video")) return Kind::camera;  // not plugged in
    return has_video_ending(source) ? Kind::video : Kind::still;
  }
  if (S_ISDIR(status.st_mode)) return Kind::sequence;
  if (S_ISFIFO(status.st_mode)) return Kind::video;
  if (S_ISCHR(status.st_mode) && source.starts_with("/dev/video")) return Kind::camera;
  if (!S_ISREG(status.st_mode)) return Kind::still;
  return has_video_ending(source) || begins_as_video(source) ? Kind::video : Kind::still;
}

}  // namespace

bool is_url(const std::string& source) { return source.find("://") != std::string::npos; }

bool is_stream(const std::string& source) { return kind_of(source) != Kind::still; }
bool is_image_sequence(const std::string& source) { return kind_of(source) == Kind::sequence; }

std::unique_ptr<FrameReader> open_reader(const std::string& source, const ReaderOptions& options) {
  switch (kind_of(source)) {
    case Kind::pattern:
      return open_pattern(source);
    case Kind::camera:
      return open_camera(source);
    case Kind::gst:
      return open_gst(source);
    case Kind::sequence:
      return open_sequence(source, options.rate);
    case Kind::video:
      return open_video(source);
    case Kind::still:
      break;
  }
  throw Error(
      fmt::format("{}: is no stream, expected camera:N, a video, a folder or pattern of images, gst:..., "
                  "pattern:...:fps=RATE or a URL",
                  source));
}

bool may_come(const std::string& source) {
  switch (kind_of(source)) {
    case Kind::camera:
      return is_camera_request(source);
    case Kind::video:
      return is_pipe(source) || (is_url(source) && !source.starts_with("file:"));
    default:
      return false;
  }
}

std::unique_ptr<LiveSource> open_live(const std::string& source, const ReaderOptions& reader,
                                      std::function<void()> wake, const LiveOptions& options) {
  LiveOptions all = options;
  all.retry_failed |= may_come(source);
  return std::make_unique<LiveSource>([=] { return open_reader(source, reader); }, std::move(wake), all);
}

}  // namespace convscope
