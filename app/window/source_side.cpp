#include "app/window/source_side.h"

namespace convscope {

void SourceSide::request(const Settings& settings, Results& results) {
  if (asked_ && asked_->source == settings.source && asked_->chw == settings.chw) return;
  asked_ = SourceRequest{settings.source, settings.chw};
  loader_->submit(*asked_);
  results.opening = true;
}

void SourceSide::collect(Settings& settings, Results& results) {
  for (SourceDelivery& d : loader_->collect()) {
    if (!asked_ || d.request.source != asked_->source || d.request.chw != asked_->chw) continue;
    results.opening = false;
    if (!d.frame) {
      results.fault = Fault{"source", d.error};
      if (newest_.frame) {
        put_back(settings, results);
      } else if (!settings.source.empty()) {
        settings.source.clear();  // nothing was open yet: the sample picture
        settings.chw = false;
      }
      continue;
    }
    if (results.fault && results.fault->key == "source" && newest_.frame) results.fault.reset();
    newest_ = Opened{d.request, std::move(d.frame), std::move(d.thumbnail)};
    results.source = newest_.frame;
    results.thumbnail = newest_.thumbnail;
  }
}

void SourceSide::put_back(Settings& settings, Results& results) {
  settings.source = newest_.request.source;
  settings.chw = newest_.request.chw;
  asked_ = newest_.request;
  results.source = newest_.frame;
  results.thumbnail = newest_.thumbnail;
}

bool SourceSide::reject(Settings& settings, Results& results) {
  if (!accepted_.frame || accepted_.frame == newest_.frame) return false;
  newest_ = accepted_;
  put_back(settings, results);
  return true;
}

void SourceSide::accept() { accepted_ = newest_; }

}  // namespace convscope
