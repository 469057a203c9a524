#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "app/files.h"
#include "app/settings.h"
#include "app/window/results.h"

namespace convscope {

/// What is to be written, which nobody changes meanwhile.
struct MapsExportRequest {
  std::string folder;
  HostMapsPtr maps;
  std::optional<DifferenceResult> difference;  // of these maps
  Settings settings;                           // for the colours
  std::string state;                           // state_json()
};

/// What an exported picture says above its maps.
std::string maps_title(const HostMaps&);
std::string difference_title(const DifferenceResult&);

/// Writes maps.npy, maps.png, difference.png and window.json, all or none, on a thread of its own: values are
/// copied, drawn and compressed for seconds.
class MapsExport {
 public:
  // that the destructor waits for an export: until it is given up, and then for files that are being written
  static constexpr double kCloseSeconds = 1, kWriteSeconds = 1;

  /// write_files(), or a stand-in.
  using Write = std::function<void(const std::string& folder, std::span<const OutputFile>)>;

  /// `wake` is called from the thread when there is something to collect; it must not call back.
  explicit MapsExport(std::function<void()> wake, Write write = write_files);
  /// A write that hangs is left behind; what failed is printed.
  ~MapsExport();
  MapsExport(const MapsExport&) = delete;
  MapsExport& operator=(const MapsExport&) = delete;

  /// Throws Error while another one runs.
  void start(MapsExportRequest);
  /// What came of the one that has ended, in a line; once.
  std::optional<std::string> collect();

 private:
  class Job;
  const std::function<void()> wake_;
  const Write write_;
  std::shared_ptr<Job> job_;  // until it was collected; the thread's as well
  std::thread thread_;
};

}  // namespace convscope
