#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <string>

namespace convscope {

/// Where the pictures of a recording go.
class RecordingFiles {
 public:
  static constexpr int kVideoFps = 30;

  virtual ~RecordingFiles() = default;
  /// A picture of 8-bit BGR, of the time `at` in seconds. False where the picture before it was never written
  /// because this one has its place. `go_on` is called before each write, and ends it by throwing. Throws
  /// Error.
  virtual bool write(const cv::Mat&, double at, const std::function<void()>& go_on) = 0;
  /// Throws Error; what was written until then stays.
  virtual void close() = 0;
  virtual uint64_t bytes() const = 0;  // of all files
  virtual uint64_t files() const = 0;
};

/// NAME.avi: a video (Motion JPEG, a picture stays until the next one came), which goes on in a file of the
/// next free name where one has `file_bytes`. Any other name: a folder of NAME/000001.png and so on. Throws
/// Error where that cannot be written, or holds a recording.
std::unique_ptr<RecordingFiles> make_recording_files(const std::string& path, uint64_t file_bytes);

/// The name itself where it holds no recording, otherwise the next that holds none: NAME-2.avi, NAME-3.avi.
std::string free_recording_name(const std::string& path);

}  // namespace convscope
