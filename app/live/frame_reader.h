#pragma once

#include <memory>
#include <string>

#include "app/frame.h"
#include "app/live/frame_pool.h"

namespace convscope {

/// What a source says of itself, and what was found to be so when it was opened.
struct ReaderInfo {
  std::string kind;       // "camera", "video", "images", "gst", "pattern", "stream"
  std::string device;     // "Integrated Camera", "matroska", "25 files": what stands behind the name
  std::string format;     // "MJPG", "h264", "PNG 8-bit BGR"
  std::string note;       // what differs from what was asked for, or was done to it; may be empty
  int64_t w = 0, h = 0;   // of the frames, upright; 0 where not known yet
  double fps = 0;         // as claimed by the source; 0: unknown
  int64_t frames = 0;     // how many there are; 0: unknown or without end
  double seconds = 0;     // how long it lasts; 0: unknown or without end
  bool live = false;      // its frames come by themselves: read() waits for the next, nothing can be paused
  bool seekable = false;  // seek() works
  bool never_repeats = false;  // two frames with equal pixels mean that it hangs: a sensor's noise
  bool operator==(const ReaderInfo&) const = default;
};

/// An open source of frames. One thread; every call may block for as long as the device pleases.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  /// May change with a read: the size in mid-stream.
  virtual const ReaderInfo& info() const = 0;

  /// The next frame, with id, sequence, index, seconds and captured set; null at the end. Throws Error where
  /// the source is lost or damaged. Never waits for a frame's time unless info().live.
  std::shared_ptr<Frame> read(FramePool&);

  /// The next read() gives the frame of this index, 0 <= index < info().frames. Throws Error.
  virtual void seek(int64_t index);

 protected:
  /// As read(), without id and sequence; `captured` where the source knows better than "now".
  virtual std::shared_ptr<Frame> next(FramePool&) = 0;

 private:
  uint64_t sequence_ = 0;
};

struct ReaderOptions {
  double rate = 30;  // frames a second of a folder or pattern of images
};

/// Whether SOURCE names a stream, not one image: camera:N[:WxH][:fps=R], gst:PIPELINE, pattern:...:fps=R, a
/// video, a folder or pattern of images (dir/, dir/frame_%04d.png, dir/*.png), a URL, a pipe. Looks at names
/// and file types only; the rest is opening's to say.
bool is_stream(const std::string& source);
/// Whether that is a folder or pattern of images.
bool is_image_sequence(const std::string& source);

/// Opens a stream; may block. Throws Error with one line: what is missing, busy, not permitted, of no known
/// kind.
std::unique_ptr<FrameReader> open_reader(const std::string& source, const ReaderOptions& = {});

}  // namespace convscope
