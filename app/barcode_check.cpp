#include "app/barcode_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.h"

namespace convscope {
namespace {

constexpr std::size_t kCopies = 16;  // on their way at most

/// An image of nine rows, of which barcode::rows_of() names the first, the middle and the last: each stands
/// for the row in the middle of a band, so that three rows are read and not three areas.
constexpr int64_t kRowsInShort = 9;
constexpr int band_of_short_row(int64_t y) { return static_cast<int>(y / 4); }
static_assert(barcode::rows_of(1, kRowsInShort).first == 4 && barcode::rows_of(2, kRowsInShort).first == 8,
              "rows 0, 4 and 8 are the bands of an image of nine rows");

int64_t middle_row(int band, int64_t h) {
  const barcode::Rows rows = barcode::rows_of(band, h);
  return (rows.first + rows.last) / 2;
}

barcode::Reading read_source(const Frame& frame) {
  const PixelLayout& l = frame.layout;
  const auto* pixels = reinterpret_cast<const uint8_t*>(frame.pixels.data());
  std::array<const uint8_t*, barcode::kBands> rows{};
  for (int band = 0; band < barcode::kBands; ++band)
    rows[static_cast<std::size_t>(band)] = pixels + middle_row(band, l.h) * l.w * l.channels;
  return barcode::read(l.w, kRowsInShort, [&](int64_t y, int64_t x) {
    return rows[static_cast<std::size_t>(band_of_short_row(y))][x * l.channels];
  });
}

double activated(Activation activation, double v) {
  switch (activation) {
    case Activation::none:
      return v;
    case Activation::relu:
      return std::max(v, 0.0);
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-v));
    case Activation::tanh:
      return std::tanh(v);
  }
  return v;
}

/// How much brighter a map makes white than black, both over an area.
double contrast(const Operation& op, int64_t map) {
  const ConvWeights& w = op.weights;
  const auto taps = static_cast<std::size_t>(w.c_in * w.k_h * w.k_w);
  double sum = 0;
  for (std::size_t i = 0; i < taps; ++i) sum += w.values[static_cast<std::size_t>(map) * taps + i];
  const double bias = w.bias.empty() ? 0 : w.bias[static_cast<std::size_t>(map)];
  const double white = op.pixels.unit_scale ? 1 : 255;
  return activated(op.problem.activation, sum * white + bias) - activated(op.problem.activation, bias);
}

/// The middle half of a block must see nothing of its neighbours, along and across.
bool blocks_hold_the_kernel(const Operation& op) {
  const ConvShape& s = op.problem.shape;
  const int64_t block = op.pixels.w / barcode::kBlocks, band = std::max<int64_t>(1, op.pixels.h / 12);
  return s.dilation.x * (s.k_w - 1) + 2 * s.stride.x <= block / 2 &&
         s.dilation.y * (s.k_h - 1) + 2 * s.stride.y <= band && s.out_w() >= 4 * barcode::kBlocks;
}

}  // namespace

/// Where the rows are read.
struct BarcodeCheck::Place {
  bool map = false;                                    // of the output; else plane 0 of the input
  std::array<std::size_t, barcode::kBands> offsets{};  // bytes
  int64_t w = 0;
  Precision precision = Precision::fp32;
  std::size_t row_bytes() const { return static_cast<std::size_t>(w) * bytes_of(precision); }
};

struct BarcodeCheck::Copy {
  std::unique_ptr<Buffer> rows;
  std::unique_ptr<Marker> there;
  barcode::Reading source;
  uint64_t sequence = 0;
  int64_t w = 0;
  Precision precision = Precision::fp32;
};

BarcodeCheck::BarcodeCheck(Runtime& runtime) : runtime_(runtime) {}
BarcodeCheck::~BarcodeCheck() = default;

bool BarcodeCheck::has_barcode(const Frame& frame) {
  const PixelLayout& l = frame.layout;
  return l.type == PixelType::u8 && !l.planar && frame.images == 1 && read_source(frame).number().has_value();
}

void BarcodeCheck::choose_place(const Chain& chain) {
  operation_ = chain.operation();
  strategy_ = chain.info().id();
  place_ = std::make_unique<Place>();
  place_->precision = chain.info().precision;
  const ConvShape& s = operation_.problem.shape;
  int64_t best = 0;
  for (int64_t map = 1; map < s.c_out; ++map) {
    if (contrast(operation_, map) > contrast(operation_, best)) best = map;
  }
  const double white = operation_.pixels.unit_scale ? 1 : 255;
  place_->map = blocks_hold_the_kernel(operation_) && contrast(operation_, best) > 0.05 * white;
  const int64_t h = place_->map ? s.out_h() : s.h;
  place_->w = place_->map ? s.out_w() : s.w;
  read_from_ = place_->map ? fmt::format("map {}", best) : "the input planes";
  for (int band = 0; band < barcode::kBands; ++band) {
    // a border lies around the image: its rows begin further down
    int64_t row = middle_row(band, operation_.pixels.h) + operation_.border.top;
    if (place_->map) {
      row = std::clamp<int64_t>((row + s.pad.y - s.dilation.y * (s.k_h - 1) / 2) / s.stride.y, 0, h - 1);
      row += best * h;
    }
    place_->offsets[static_cast<std::size_t>(band)] = static_cast<std::size_t>(row) * place_->row_bytes();
  }
}

void BarcodeCheck::enqueue(const Chain& chain, const Frame& frame) {
  if (!place_ || chain.info().id() != strategy_ || !(chain.operation() == operation_)) {
    collect(true);
    unused_.clear();
    choose_place(chain);
  }
  if (on_their_way_.size() == kCopies) on_their_way_.front()->there->wait(), collect(false);
  std::unique_ptr<Copy> copy;
  if (unused_.empty()) {
    copy = std::make_unique<Copy>();
    copy->rows = runtime_.allocate_host(place_->row_bytes() * barcode::kBands);
    copy->there = runtime_.make_marker();
  } else {
    copy = std::move(unused_.front());
    unused_.pop_front();
  }
  copy->source = read_source(frame);
  copy->sequence = frame.sequence;
  copy->w = place_->w;
  copy->precision = place_->precision;
  const auto* from = static_cast<const std::byte*>(place_->map ? chain.output() : chain.input());
  auto* to = static_cast<std::byte*>(copy->rows->data());
  for (std::size_t band = 0; band < place_->offsets.size(); ++band)
    runtime_.download_async(to + band * place_->row_bytes(), from + place_->offsets[band],
                            place_->row_bytes());
  copy->there->record();
  on_their_way_.push_back(std::move(copy));
}

void BarcodeCheck::collect(bool all) {
  while (!on_their_way_.empty()) {
    Copy& oldest = *on_their_way_.front();
    if (all) oldest.there->wait();
    if (!oldest.there->passed()) return;
    judge(oldest);
    unused_.push_back(std::move(on_their_way_.front()));
    on_their_way_.pop_front();
  }
}

void BarcodeCheck::fault(uint64_t& count, const Copy& copy, const std::string& words) {
  ++count;
  if (counts_.first_fault.empty()) counts_.first_fault = fmt::format("frame {}: {}", copy.sequence, words);
}

void BarcodeCheck::judge(const Copy& copy) {
  ++counts_.checked;
  const auto read = [w = copy.w](const auto* values) {
    return barcode::read(w, kRowsInShort,
                         [=](int64_t y, int64_t x) { return values[band_of_short_row(y) * w + x]; });
  };
  const barcode::Reading result = copy.precision == Precision::fp64
                                      ? read(static_cast<const double*>(copy.rows->data()))
                                      : read(static_cast<const float*>(copy.rows->data()));
  const std::optional<uint32_t> drawn = copy.source.number(), number = result.number();
  if (result.torn()) {
    const auto words = [](const std::optional<uint32_t>& band) {
      return band ? fmt::format("{}", *band) : std::string("none");
    };
    fault(counts_.torn, copy,
          fmt::format("torn: {} at the top, {} in the middle, {} at the bottom", words(result.bands[0]),
                      words(result.bands[1]), words(result.bands[2])));
  } else if (!number || !drawn) {
    fault(counts_.unreadable, copy, number ? "no number in the source" : "no number in the result");
  } else if (*number != *drawn) {
    fault(counts_.wrong, copy, fmt::format("the result shows number {}, the source {}", *number, *drawn));
  }
  if (drawn && last_number_ && *drawn == *last_number_) {
    fault(counts_.twice, copy, fmt::format("number {} came twice", *drawn));
  } else if (drawn && last_number_ &&
             *drawn - *last_number_ != static_cast<uint32_t>(copy.sequence - last_sequence_)) {
    fault(counts_.skipped, copy,
          fmt::format("number {} follows {}, {} frames later", *drawn, *last_number_,
                      copy.sequence - last_sequence_));
  }
  last_number_ = drawn;
  last_sequence_ = copy.sequence;
}

}  // namespace convscope
