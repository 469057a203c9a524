#pragma once

#include <memory>
#include <string>

#include "app/live/frame_reader.h"

// One maker for each kind of stream; open_reader() picks. All throw Error with one line and may block.
namespace convscope {

/// pattern:NAME[:WxH[xC]][:key=value...]:fps=R, moving. Its frames are there at once.
std::unique_ptr<FrameReader> open_pattern(const std::string& source);
/// A folder, a numbered pattern (frame_%04d.png) or one with * and ?, in natural order.
std::unique_ptr<FrameReader> open_sequence(const std::string& source, double rate);
/// A video file, a named pipe or a URL, through FFmpeg.
std::unique_ptr<FrameReader> open_video(const std::string& source);
/// camera:N[:WxH][:fps=R], through Video4Linux.
std::unique_ptr<FrameReader> open_camera(const std::string& source);
/// gst:PIPELINE, with or without an appsink at its end.
std::unique_ptr<FrameReader> open_gst(const std::string& source);

/// PROTOCOL://...
bool is_url(const std::string& source);

}  // namespace convscope
