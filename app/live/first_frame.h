#pragma once

#include <string>

#include "app/frame.h"
#include "app/live/frame_reader.h"

namespace convscope {

/// One frame of a stream, for those who want no more: the one of this index, from 0. Throws Error, also where
/// nothing comes for `patience` seconds; the reader is then left to itself.
FramePtr read_one_frame(const std::string& source, const ReaderOptions&, int64_t index, double patience = 10);

}  // namespace convscope
