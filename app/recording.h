#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <thread>

#include "app/avi_file.h"
#include "app/recording_files.h"

namespace convscope {

/// How far a recording has come.
struct RecordingProgress {
  std::string path;
  uint64_t pictures = 0;  // in its files, or on their way there
  uint64_t left_out =
      0;               // came while the disk was behind, or within one picture's time in a video, or too late
  double seconds = 0;  // from the first picture to the last
  uint64_t bytes = 0;  // on the disk
  uint64_t files = 1;  // of a video that goes on in further ones
  bool ending = false;  // it was asked to end, and writes what was handed over
  bool ended = false;
  std::string fault;  // why it ended, in one line; empty where it was asked to
};

/// Pictures on their way to files (recording_files.h), on a thread of its own.
class Recording {
 public:
  static constexpr uint64_t kLeastFree = uint64_t{32} << 20;  // bytes of the disk that are left alone
  static constexpr double kEndSeconds = 10;   // after end(); what is not written by then is left out
  static constexpr double kCloseSeconds = 1;  // that close() waits

  struct Options {
    /// Bytes free where a path lies; for tests.
    std::function<uint64_t(const std::string& path)> free_bytes{};
    uint64_t file_bytes = AviFile::kMostBytes;  // of a video, until it goes on in the next file
    std::function<void()> wake{};  // called when it has ended, from its thread; must not call back
  };

  /// Throws Error where the path cannot be written, or holds a recording.
  explicit Recording(std::string path) : Recording(std::move(path), Options{}) {}
  Recording(std::string path, Options);
  /// close(). A write that hangs even then is left behind with its file.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// A picture of 8-bit BGR, of the time `at` in seconds; never waits for the disk.
  void add(cv::Mat picture, double at);
  /// Asks for the end: what was handed over is written, and the file closed. Does not wait for it.
  void end(double seconds = kEndSeconds);
  /// Until it has ended, at most so long. Whether it has.
  bool wait(double seconds);
  /// Ends it within kCloseSeconds; what came of it.
  RecordingProgress close();
  RecordingProgress progress() const;

 private:
  class Session;
  std::shared_ptr<Session> session_;  // the thread's as well
  std::thread thread_;
};

}  // namespace convscope
