#include "app/image_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "app/files.h"
#include "app/image_stream.h"
#include "kernels/error.h"

namespace convscope {
namespace {

/// Keeps what the codecs print on stderr by themselves: the user is told once, by us. stderr belongs to the
/// process, so that one decode at a time may do so.
class CodecMessages {
 public:
  CodecMessages() : lock_(mutex()) {
    std::fflush(stderr);
    caught_ = ::memfd_create("codec messages", MFD_CLOEXEC);
    saved_ = ::dup(STDERR_FILENO);
    if (caught_ >= 0 && saved_ >= 0) ::dup2(caught_, STDERR_FILENO);
  }
  ~CodecMessages() { restore(); }
  CodecMessages(const CodecMessages&) = delete;
  CodecMessages& operator=(const CodecMessages&) = delete;

  /// The first line caught, and stderr as it was.
  std::string finish() {
    restore();
    char text[256] = {};
    const ssize_t n = caught_ >= 0 ? ::pread(caught_, text, sizeof text - 1, 0) : 0;
    if (caught_ >= 0) ::close(std::exchange(caught_, -1));
    const std::string all(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    return all.substr(0, all.find('\n'));
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  void restore() {
    if (saved_ < 0) return;
    std::fflush(stderr);
    ::dup2(saved_, STDERR_FILENO);
    ::close(std::exchange(saved_, -1));
  }

  std::lock_guard<std::mutex> lock_;
  int caught_ = -1, saved_ = -1;
};

struct Decoded {
  cv::Mat pixels;
  std::string message;  // of the codec
};

Decoded decode(const std::vector<std::byte>& bytes, const std::string& path, const ImageStream& stream) {
  prepare_image_input();
  CodecMessages messages;
  Decoded out;
  std::string fault;
  try {
    // unchanged also means: orientation not applied, for every codec but TIFF's, which always applies it
    out.pixels =
        cv::imdecode(cv::Mat(1, static_cast<int>(bytes.size()), CV_8U, const_cast<std::byte*>(bytes.data())),
                     cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception& e) {
    fault = e.err.substr(0, e.err.find('\n'));
  }
  out.message = messages.finish();
  if (out.pixels.empty()) {
    // OpenCV's own report has its source file in it: of no use to the user
    if (fault.empty() && !out.message.starts_with("imdecode")) fault = out.message;
    throw Error(
        fmt::format("{}: cannot be decoded as {}: truncated, damaged or of a kind that OpenCV does not read "
                    "({} bytes{}{})",
                    path, stream.format, bytes.size(), fault.empty() ? "" : "; ", fault));
  }
  return out;
}

/// EXIF orientations 2 to 8 to upright (EXIF 2.3, table 6).
cv::Mat upright(const cv::Mat& image, int orientation) {
  cv::Mat out = image;
  if (orientation >= 5) cv::transpose(image, out);
  switch (orientation) {
    case 2:
      cv::flip(out, out, 1);
      break;
    case 3:
      cv::flip(out, out, -1);
      break;
    case 4:
      cv::flip(out, out, 0);
      break;
    case 6:
      cv::flip(out, out, 1);
      break;
    case 7:
      cv::flip(out, out, -1);
      break;
    case 8:
      cv::flip(out, out, 0);
      break;
    default:
      break;
  }
  return out;
}

std::optional<PixelType> pixel_type(int depth) {
  switch (depth) {
    case CV_8U:
      return PixelType::u8;
    case CV_16U:
      return PixelType::u16;
    case CV_32F:
      return PixelType::f32;
    case CV_64F:
      return PixelType::f64;
    default:
      return std::nullopt;
  }
}

void add_note(std::string& note, const std::string& text) { note += (note.empty() ? "" : "; ") + text; }

}  // namespace

void prepare_image_input() {
  static const bool once = [] {
    // read by OpenCV at its first EXR; a choice of the user's stands
    ::setenv("OPENCV_IO_ENABLE_OPENEXR", "1", 0);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return true;
  }();
  static_cast<void>(once);
}

std::string type_name(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return "8-bit";
    case PixelType::u16:
      return "16-bit";
    case PixelType::f32:
      return "float32";
    case PixelType::f64:
      return "float64";
  }
  return "";
}

std::unique_ptr<Frame> read_image_file(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path, kMaxValues - 1);
  const ImageStream stream = inspect_image(bytes, path);
  if (stream.width * stream.height > kMaxValues)
    throw Error(fmt::format("{}: {} x {} pixels, expected at most {} values", path, stream.width,
                            stream.height, kMaxValues));
  const Decoded decoded = decode(bytes, path, stream);
  cv::Mat image = upright(decoded.pixels, stream.orientation);

  auto frame = std::make_unique<Frame>();
  if (stream.orientation != 1)
    add_note(frame->note, fmt::format("EXIF orientation {} applied", stream.orientation));
  if (image.channels() == 2 || (image.channels() == 4 && stream.grey)) {
    cv::extractChannel(image, image, 0);
    add_note(frame->note, "alpha left out");
  }
  const std::optional<PixelType> type = pixel_type(image.depth());
  const int channels = image.channels();
  if (!type || (channels != 1 && channels != 3 && channels != 4))
    throw Error(
        fmt::format("{}: {} channels of OpenCV type {}, expected 1, 3 or 4 channels of 8 or 16 bits "
                    "(unsigned) or floats",
                    path, channels, cv::typeToString(image.type())));
  if (static_cast<int64_t>(image.total()) * channels > kMaxValues)
    throw Error(fmt::format("{}: {} x {} pixels of {} channels, expected at most {} values", path, image.cols,
                            image.rows, channels, kMaxValues));
  if (*type == PixelType::u8 && stream.tiff.bits > 8)
    throw Error(fmt::format(
        "{}: a TIFF file of {} bits a sample that OpenCV reads with 8 only, expected grey, RGB or "
        "RGBA",
        path, stream.tiff.bits));
  if (channels == 4) add_note(frame->note, "alpha left out");
  // libtiff's own conversion to 8-bit RGBA, which OpenCV uses, does that
  if (channels == 4 && *type == PixelType::u8 && stream.tiff.unassociated_alpha)
    add_note(frame->note, "colours come multiplied by alpha");
  if (!decoded.message.empty()) add_note(frame->note, decoded.message);

  frame->layout.type = *type;
  frame->layout.w = image.cols;
  frame->layout.h = image.rows;
  frame->layout.channels = channels;
  frame->layout.planes = channels == 1 ? 1 : 3;
  frame->layout.reverse = channels > 1;
  frame->name = path;
  frame->format = fmt::format("{} {} {}", stream.format, type_name(*type),
                              channels == 1   ? "grey"
                              : channels == 3 ? "BGR"
                                              : "BGRA");
  if (!image.isContinuous()) image = image.clone();
  const auto* data = reinterpret_cast<const std::byte*>(image.data);
  frame->pixels.assign(data, data + frame->layout.bytes());
  return frame;
}

}  // namespace convscope
