#include "app/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "kernels/error.h"
#include "kernels/runtime.h"

namespace convscope {
namespace {

constexpr int kMaxSheetW = 3072, kMaxSheetH = 2160;  // so that any viewer opens it
constexpr int64_t kMaxCells = 1024;                  // beyond, cells are too small to see anything
constexpr int kGap = 6, kLabel = 18, kTitle = 30, kMinWidth = 720;

/// The grid whose cells show the planes largest.
ViewLayout sheet_layout(const PlaneSet& planes) {
  ViewLayout layout;
  layout.cells = static_cast<int>(std::min(planes.count, kMaxCells));
  layout.plane_w = planes.w;
  layout.plane_h = planes.h;
  double best = INFINITY;
  for (int columns = 1; columns <= layout.cells; ++columns) {
    const int rows = (layout.cells + columns - 1) / columns;
    const double cell_w = (kMaxSheetW - kGap) / static_cast<double>(columns) - kGap;
    const double cell_h = (kMaxSheetH - kTitle - kGap) / static_cast<double>(rows) - kGap - kLabel;
    if (cell_w < 1 || cell_h < 1) continue;
    const double step =
        std::max(static_cast<double>(planes.w) / cell_w, static_cast<double>(planes.h) / cell_h);
    if (step < best) best = step, layout.columns = columns;
  }
  if (best < 1) {
    // small maps: whole factors, so that every value is a square of one size, and not larger than a screen
    constexpr double kScreen = kMaxSheetW / 1200.0;
    best = 1 / std::max(1.0, std::floor(1 / (best * kScreen)));
  }
  layout.step = best;
  // rounded up: the last, partial view pixel holds values too, and one of them may be the wrong one
  layout.cell_w = static_cast<int>(std::ceil(static_cast<double>(planes.w) / best));
  layout.cell_h = static_cast<int>(std::ceil(static_cast<double>(planes.h) / best));
  layout.pitch_x = layout.cell_w + kGap;
  layout.pitch_y = layout.cell_h + kGap + kLabel;
  layout.origin_x = kGap;
  layout.origin_y = kTitle + kLabel;
  const int rows = (layout.cells + layout.columns - 1) / layout.columns;
  layout.view_w = std::max(kMinWidth, layout.columns * layout.pitch_x + kGap);
  layout.view_h = kTitle + rows * layout.pitch_y + kGap;
  return layout;
}

std::vector<float> view_of(const ViewLayout& layout, const PlaneSet& planes, const void* b, Metric metric) {
  std::vector<float> view(static_cast<std::size_t>(layout.view_w) * static_cast<std::size_t>(layout.view_h));
  make_runtime(Target::cpu)->view(layout, {planes.data, b, nullptr}, planes.precision, metric, view.data());
  return view;
}

cv::Mat colored(const ViewLayout& layout, const std::vector<float>& view, const Coloring& coloring) {
  cv::Mat image(layout.view_h, layout.view_w, CV_8UC3);
  for (int y = 0; y < layout.view_h; ++y) {
    for (int x = 0; x < layout.view_w; ++x) {
      const float value = view[static_cast<std::size_t>(y) * static_cast<std::size_t>(layout.view_w) +
                               static_cast<std::size_t>(x)];
      const bool empty = std::bit_cast<uint32_t>(value) == kViewEmptyBits;
      const Rgb color =
          empty ? kEmptyColor : color_of(static_cast<double>(value), coloring.range, coloring.map);
      image.at<cv::Vec3b>(y, x) = {color.b, color.g, color.r};
    }
  }
  return image;
}

void write(cv::Mat& image, const std::string& text, int x, int y, int width, double size, int grey) {
  // what does not fit would run into the next cell
  const cv::Rect room(x, std::max(0, y - 16), std::min(width, image.cols - x),
                      std::min(22, image.rows - y + 16));
  if (room.width < 12 || room.height < 12) return;
  cv::Mat part = image(room);
  cv::putText(part, text, {0, y - room.y}, cv::FONT_HERSHEY_SIMPLEX, size, cv::Scalar::all(grey), 1,
              cv::LINE_AA);
}

std::vector<std::byte> sheet(const PlaneSet& planes, const void* b, Metric metric,
                             const std::vector<std::string>& labels, const Coloring& coloring,
                             std::string title) {
  const ViewLayout layout = sheet_layout(planes);
  cv::Mat image = colored(layout, view_of(layout, planes, b, metric), coloring);
  if (layout.cells < planes.count)
    title += fmt::format("  (first {} of {} maps)", layout.cells, planes.count);
  write(image, title, kGap, 20, image.cols - 2 * kGap, 0.5, 235);
  for (int i = 0; i < layout.cells; ++i) {
    // batches repeat the labels, image by image
    const std::size_t of = labels.empty() ? 0 : static_cast<std::size_t>(i) % labels.size();
    std::string label = labels.empty() ? fmt::format("map {}", i) : labels[of];
    if (static_cast<std::size_t>(planes.count) > labels.size() && !labels.empty())
      label = fmt::format("image {} {}", static_cast<std::size_t>(i) / labels.size(), label);
    write(image, label, layout.origin_x + i % layout.columns * layout.pitch_x,
          layout.origin_y + i / layout.columns * layout.pitch_y - 5, layout.cell_w, 0.4, 190);
  }
  std::vector<uint8_t> png;
  // level 3 of 9: a third of the time for a few percent of size
  cv::imencode(".png", image, png, {cv::IMWRITE_PNG_COMPRESSION, 3});
  const auto bytes = std::as_bytes(std::span(png));
  return {bytes.begin(), bytes.end()};
}

std::string range_text(const Coloring& coloring) {
  const char* name = coloring.map == ColorMap::grey      ? "grey"
                     : coloring.map == ColorMap::viridis ? "viridis"
                     : coloring.map == ColorMap::turbo   ? "turbo"
                                                         : "diverging";
  return fmt::format("{} {:.6g} to {:.6g}", name, coloring.range.low, coloring.range.high);
}

}  // namespace

Coloring map_coloring(const PlaneSet& planes, const Settings& settings) {
  if (!settings.auto_range) return {settings.color_map, {settings.range_low, settings.range_high}};
  const auto size = static_cast<std::size_t>(planes.count * planes.h * planes.w);
  const Range range = planes.precision == Precision::fp64
                          ? finite_range(std::span(static_cast<const double*>(planes.data), size))
                          : finite_range(std::span(static_cast<const float*>(planes.data), size));
  const ColorMap map =
      settings.color_map == ColorMap::viridis && range.low < 0 ? ColorMap::diverging : settings.color_map;
  if (map != ColorMap::diverging) return {map, range};
  const double end = std::max(std::abs(range.low), std::abs(range.high));
  return {map, {-end, end}};
}

std::vector<std::byte> maps_png(const PlaneSet& planes, const std::vector<std::string>& labels,
                                const Coloring& coloring, const std::string& title) {
  return sheet(planes, nullptr, Metric::value, labels, coloring,
               fmt::format("{}: {} maps of {} x {}, {}", title, planes.count, planes.w, planes.h,
                           range_text(coloring)));
}

std::vector<std::byte> difference_png(const PlaneSet& a, const PlaneSet& b,
                                      const std::vector<std::string>& labels, double max_abs,
                                      const std::string& title) {
  if (a.count != b.count || a.h != b.h || a.w != b.w || a.precision != b.precision)
    throw Error("difference.png: the two results differ in shape or precision");
  const Coloring coloring{ColorMap::diverging, {-max_abs, max_abs}};
  return sheet(a, b.data, Metric::signed_difference, labels, coloring, title);
}

}  // namespace convscope
