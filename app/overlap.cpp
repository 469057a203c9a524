#include "app/overlap.h"

#include <algorithm>

namespace convscope {

double Overlap::shared(const Interval& upload) const {
  double ms = 0;
  for (const Interval& kernel : kernels_)
    ms += std::max(0.0, std::min(upload.end, kernel.end) - std::max(upload.start, kernel.start));
  return ms;
}

void Overlap::add(const FrameTimes& frame) {
  for (const StageTime& stage : frame.stages) {
    const bool upload = stage.name == "upload";
    (upload ? upload_ms_ : kernel_ms_) += stage.ms;
    (upload ? uploads_ : kernels_).push_back({stage.start_ms, stage.start_ms + stage.ms});
  }
  // kernels come in their order: an upload that ended before the newest began meets no others
  while (!uploads_.empty() && !kernels_.empty() && kernels_.back().start >= uploads_.front().end) {
    both_ms_ += shared(uploads_.front());
    while (kernels_.size() > 1 && kernels_.front().end <= uploads_.front().start) kernels_.pop_front();
    uploads_.pop_front();
  }
}

double Overlap::both_ms() const {
  double both = both_ms_;
  for (const Interval& upload : uploads_) both += shared(upload);
  return both;
}

double Overlap::hidden() const {
  const double shorter = std::min(upload_ms_, kernel_ms_);
  return shorter > 0 ? both_ms() / shorter : 0;
}

}  // namespace convscope
