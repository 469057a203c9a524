#include "app/source.h"

#include <fmt/format.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "app/bank.h"
#include "app/files.h"
#include "app/image_file.h"
#include "app/live/first_frame.h"
#include "app/npy.h"
#include "app/patterns.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

/// How the dimensions of an array are read.
struct ArrayAxes {
  int64_t n = 1, c = 1, h = 1, w = 1;
  bool planar = false;
};

ArrayAxes array_axes(const NpyArray& array, bool chw, const std::string& path) {
  const std::vector<int64_t>& s = array.shape;
  switch (s.size()) {
    case 2:
      return {1, 1, s[0], s[1], false};
    case 3:
      return chw ? ArrayAxes{1, s[0], s[1], s[2], true} : ArrayAxes{1, s[2], s[0], s[1], false};
    case 4:
      return {s[0], s[1], s[2], s[3], true};
    default:
      throw Error(
          fmt::format("{}: an array of shape ({}), expected H x W, H x W x C, C x H x W (with --chw) or "
                      "N x C x H x W",
                      path, shape_text(s)));
  }
}

std::unique_ptr<Frame> read_array(const std::string& path, const SourceOptions& options) {
  NpyArray array = read_npy(path);
  const ArrayAxes axes = array_axes(array, options.chw, path);
  const std::string shape = shape_text(array.shape);
  if (array.size() == 0) throw Error(fmt::format("{}: an array of shape ({}) has no values", path, shape));
  // channels are an int in the layout, and no convolution has more
  if (array.size() > kMaxValues)
    throw Error(fmt::format("{}: {} values, expected at most {}", path, shape, kMaxValues));
  auto frame = std::make_unique<Frame>();
  frame->layout = {.type = array.type,
                   .w = axes.w,
                   .h = axes.h,
                   .channels = static_cast<int>(axes.c),
                   .planes = static_cast<int>(axes.c),
                   .planar = axes.planar};
  frame->images = axes.n;
  frame->pixels = std::move(array.data);
  frame->name = path;
  frame->format = fmt::format("NPY {} {}", type_name(array.type), shape);
  constexpr int64_t kManyChannels = 32;
  if (array.shape.size() == 3 && !options.chw && axes.c > kManyChannels && array.shape[0] <= 4)
    frame->note = fmt::format("read as H x W x C with {} channels; --chw reads C x H x W", axes.c);
  return frame;
}

std::string sample_path() { return (fs::path(assets_folder()) / "sample.png").string(); }

std::unique_ptr<Frame> open(const std::string& source, const SourceOptions& options) {
  if (source.empty()) return read_image_file(sample_path());
  if (source.starts_with("pattern:")) return make_pattern(source);
  if (lower_ending(source) == ".npy") return read_array(source, options);
  return read_image_file(source);
}

}  // namespace

FramePtr open_source(const std::string& source, const SourceOptions& options) {
  if (is_stream(source)) {
    auto frame = std::make_shared<Frame>(*read_one_frame(source, {options.rate}, options.frame));
    frame->hash = hash_of(frame->pixels);
    return frame;
  }
  if (options.frame != 0)
    throw Error(fmt::format("frame={}: {} is one image, not a stream", options.frame,
                            source.empty() ? "the sample picture" : source));
  std::unique_ptr<Frame> frame = open(source, options);
  frame->id = next_frame_id();
  frame->hash = hash_of(frame->pixels);
  return frame;
}

const std::vector<std::string>& source_endings() {
  static const std::vector<std::string> endings = [] {
    std::vector<std::string> out;
    for (const char* ending : {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".dib", ".tif", ".tiff",
                               ".webp", ".exr", ".hdr", ".pbm", ".pgm", ".ppm", ".pnm", ".pfm"}) {
      // OpenCV has each codec with its encoder or not at all, and asks for a file before it names a decoder
      const std::string probe = std::string(ending) == ".jfif" ? ".jpg" : ending;
      if (cv::haveImageWriter("x" + probe)) out.emplace_back(ending);
    }
    out.emplace_back(".npy");
    return out;
  }();
  return endings;
}

const std::vector<std::string>& video_endings() {
  static const std::vector<std::string> endings{
      ".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".m2v",   ".ts",  ".mts", ".m2ts",
      ".wmv", ".asf", ".flv", ".ogv", ".3gp", ".vob",  ".y4m", ".mjpg", ".mjpeg", ".gif", ".mxf", ".nut"};
  return endings;
}

}  // namespace convscope
