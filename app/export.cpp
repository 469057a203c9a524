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
constexpr int kGap = 6, kLabel = 18, kTitle = 30;
constexpr double kTitleSize = 0.5, kLabelSize = 0.4;

/// A longer label is cut, so that names cannot make the maps tiny.
int max_label_width(int64_t count) { return count <= 64 ? 200 : 80; }

int text_width(const std::string& text, double size) {
  int baseline = 0;
  return cv::getTextSize(text, cv::FONT_HERSHEY_SIMPLEX, size, 1, &baseline).width + 2;
}

/// The grid whose cells show the planes largest, each as wide as its label needs.
ViewLayout sheet_layout(const PlaneSet& planes, int label_w, int title_w) {
  ViewLayout layout;
  layout.cells = static_cast<int>(std::min(planes.count, kMaxCells));
  layout.plane_w = planes.w;
  layout.plane_h = planes.h;
  double best = INFINITY;
  for (int columns = 1; columns <= layout.cells; ++columns) {
    const int rows = (layout.cells + columns - 1) / columns;
    const double cell_w = (kMaxSheetW - kGap) / static_cast<double>(columns) - kGap;
    const double cell_h = (kMaxSheetH - kTitle - kGap) / static_cast<double>(rows) - kGap - kLabel;
    if (cell_w < 1 || cell_h < 1 || (columns > 1 && cell_w < label_w)) continue;
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
  layout.pitch_x = std::max(layout.cell_w, label_w) + kGap;
  layout.pitch_y = layout.cell_h + kGap + kLabel;
  layout.origin_x = kGap;
  layout.origin_y = kTitle + kLabel;
  const int rows = (layout.cells + layout.columns - 1) / layout.columns;
  layout.view_w = std::max(title_w + 2 * kGap, layout.columns * layout.pitch_x + kGap);
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

/// What stands above each cell; batches repeat the labels, image by image.
std::vector<std::string> cell_names(const PlaneSet& planes, const std::vector<std::string>& labels) {
  std::vector<std::string> names;
  const auto each = static_cast<int64_t>(labels.size());
  for (int64_t i = 0; i < std::min(planes.count, kMaxCells); ++i) {
    const std::string name =
        each == 0 ? fmt::format("map {}", i) : labels[static_cast<std::size_t>(i % each)];
    names.push_back(each != 0 && planes.count > each ? fmt::format("image {} {}", i / each, name) : name);
  }
  return names;
}

std::vector<std::byte> sheet(const PlaneSet& planes, const void* b, Metric metric,
                             const std::vector<std::string>& labels, const Coloring& coloring,
                             std::string title) {
  if (planes.count > kMaxCells) title += fmt::format("  (first {} of {} maps)", kMaxCells, planes.count);
  const std::vector<std::string> names = cell_names(planes, labels);
  int label_w = 0;
  for (const std::string& name : names)
    label_w = std::min(max_label_width(planes.count), std::max(label_w, text_width(name, kLabelSize)));
  const ViewLayout layout = sheet_layout(planes, label_w, text_width(title, kTitleSize));
  cv::Mat image = colored(layout, view_of(layout, planes, b, metric), coloring);
  write(image, title, kGap, 20, image.cols - 2 * kGap, kTitleSize, 235);
  for (int i = 0; i < layout.cells; ++i) {
    write(image, names[static_cast<std::size_t>(i)], layout.origin_x + i % layout.columns * layout.pitch_x,
          layout.origin_y + i / layout.columns * layout.pitch_y - 5, layout.pitch_x - kGap, kLabelSize, 190);
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
               fmt::format("{}: {} {} of {} x {}, {}", title, planes.count,
                           planes.count == 1 ? "map" : "maps", planes.w, planes.h, range_text(coloring)));
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
