#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "app/frame.h"
#include "app/live/barcode.h"
#include "kernels/chain.h"

namespace convscope {

/// What came of it.
struct BarcodeCounts {
  uint64_t checked = 0;
  uint64_t unreadable = 0;  // no number in one of the bands of the result
  uint64_t torn = 0;        // bands of the result with different numbers
  uint64_t wrong = 0;       // a whole number, but not that of the frame it was computed of
  uint64_t twice = 0;       // the number of the frame before, though the source called it a new frame
  uint64_t skipped = 0;     // the source's count of frames and the numbers drawn in them went apart
  std::string first_fault;  // in words
  bool good() const { return unreadable + torn + wrong + twice + skipped == 0; }
};

/// Reads the frame numbers that a source draws into its pictures (barcode.h) back from what was computed of
/// them: three rows of one map, brought to the host asynchronously. A map is fit where a white area comes out
/// brighter than a black one; without such a map the planes that the strategy reads are taken.
class BarcodeCheck {
 public:
  /// Whether the frame has a barcode at all.
  static bool has_barcode(const Frame&);

  explicit BarcodeCheck(Runtime&);
  ~BarcodeCheck();

  /// The chain has run the frame: enqueues the copy of its rows. Waits only where too many are on their way.
  void enqueue(const Chain&, const Frame&);
  /// Looks at the copies that have come. `all`: waits for those on their way.
  void collect(bool all);

  const BarcodeCounts& counts() const { return counts_; }
  /// "map 3", "the input planes".
  const std::string& read_from() const { return read_from_; }

 private:
  struct Copy;
  struct Place;
  void choose_place(const Chain&);
  void judge(const Copy&);
  void fault(uint64_t& count, const Copy&, const std::string& words);

  Runtime& runtime_;
  Operation operation_;  // that the place was chosen for
  std::string strategy_;
  std::unique_ptr<Place> place_;
  std::deque<std::unique_ptr<Copy>> on_their_way_, unused_;
  std::optional<uint32_t> last_number_;
  uint64_t last_sequence_ = 0;
  BarcodeCounts counts_;
  std::string read_from_;
};

}  // namespace convscope
