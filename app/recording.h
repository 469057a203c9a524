#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <opencv2/core.hpp>
#include <string>
#include <thread>

namespace convscope {

/// How far a recording has come.
struct RecordingProgress {
  std::string path;
  uint64_t pictures = 0;  // written
  uint64_t left_out = 0;  // came while the disk was behind
  double seconds = 0;     // from the first picture to the last
  uint64_t bytes = 0;     // on the disk
  bool ended = false;
  std::string fault;  // why it ended, in one line; empty where it was asked to
};

/// Pictures on their way to a file, on a thread of its own: NAME.avi becomes a video (Motion JPEG, a picture
/// stays until the next one came), any other name a folder of NAME/000001.png and so on.
class Recording {
 public:
  static constexpr double kVideoFps = 30;
  static constexpr uint64_t kLeastFree = uint64_t{32} << 20;  // bytes of the disk that are left alone

  /// Bytes free where a path lies; for tests.
  using FreeBytes = std::function<uint64_t(const std::string& path)>;

  /// Throws Error where the path cannot be written.
  explicit Recording(std::string path, FreeBytes = {});
  ~Recording();  // finish()
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// A picture of 8-bit BGR, of the time `at` in seconds; never waits for the disk.
  void add(cv::Mat picture, double at);
  /// Writes what was handed over, and closes the file.
  void finish();
  RecordingProgress progress() const;

 private:
  struct Picture {
    cv::Mat pixels;
    double at = 0;
  };
  class Sink;
  class Video;
  class Folder;
  void loop();
  bool write(const Picture&);

  const std::string path_;
  const FreeBytes free_bytes_;
  std::unique_ptr<Sink> sink_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Picture> waiting_;
  RecordingProgress progress_;
  double first_at_ = 0;
  bool stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace convscope
