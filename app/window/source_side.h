#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "app/window/source_loader.h"

namespace convscope {

/// The open picture: asks for the one that the settings name, and keeps the last good one when that fails.
class SourceSide {
 public:
  explicit SourceSide(std::function<void()> wake) : loader_(make_source_loader(std::move(wake))) {}

  /// Asks for the settings' source if it is not the one asked for last.
  void request(const Settings&, Results&);
  /// Takes over a picture that has been read, or puts the settings back with a fault.
  void collect(Settings&, Results&);
  /// The newest picture cannot be convolved as set: back to the one before, if there is one; whether there
  /// was.
  bool reject(Settings&, Results&);
  /// The newest picture has been taken by a computation.
  void accept();
  const FramePtr& frame() const { return newest_.frame; }

 private:
  struct Opened {
    SourceRequest request;
    FramePtr frame;
    std::shared_ptr<const Thumbnail> thumbnail;
  };
  void put_back(Settings&, Results&);

  std::optional<SourceRequest> asked_;
  Opened newest_, accepted_;
  std::unique_ptr<SourceLoader> loader_;
};

}  // namespace convscope
