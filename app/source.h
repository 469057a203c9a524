#pragma once

#include <string>
#include <vector>

#include "app/frame.h"

namespace convscope {

struct SourceOptions {
  bool chw = false;   // a 3-D .npy is C x H x W, not H x W x C
  int64_t frame = 0;  // of a stream
  double rate = 30;   // frames a second of a folder or pattern of images
};

/// One frame of SOURCE as the command line describes it: an image file, a .npy array, or
/// pattern:NAME[:WxH[xC]][:key=value...]; empty: the sample picture; or what is_stream()
/// (live/frame_reader.h) says is a stream, of which one frame is read. Throws Error with one line: the file,
/// what is wrong, what was expected.
FramePtr open_source(const std::string& source, const SourceOptions& = {});

/// Endings (lower case, with the dot) of images and arrays that open_source reads on this machine.
const std::vector<std::string>& source_endings();
/// Endings of videos; whether FFmpeg has what is in them is found out when they are opened.
const std::vector<std::string>& video_endings();

struct PatternInfo {
  std::string name;   // "zone_plate"
  std::string about;  // one sentence
};
const std::vector<PatternInfo>& patterns();

}  // namespace convscope
