#include "app/recording_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <span>
#include <vector>

#include "app/avi_file.h"
#include "app/files.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

constexpr int kJpegQuality = 85;  // of 100: labels of one pixel's width stay legible

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether a folder has pictures as we name them.
bool holds_pictures(const fs::path& folder) {
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    if (entry.path().extension() == ".png" && is_number(entry.path().stem().string())) return true;
  }
  return false;
}

class Video final : public RecordingFiles {
 public:
  Video(const std::string& path, uint64_t file_bytes)
      : path_(path), file_bytes_(file_bytes), file_(std::make_unique<AviFile>(path)) {}

  bool write(const cv::Mat& picture, double at, const std::function<void()>& go_on) override {
    go_on();
    if (size_.empty()) {
      size_ = picture.size();
      first_at_ = at;
      file_->begin(size_.width, size_.height, kVideoFps);
    }
    if (picture.size() != size_)
      throw Error(fmt::format("{}: the view changed from {}x{} to {}x{}, a video has one size", path_,
                              size_.width, size_.height, picture.cols, picture.rows));
    // what was on screen until now fills the places that have passed
    const auto place = static_cast<int64_t>(std::round((at - first_at_) * kVideoFps));
    for (; place_ < place; ++place_) go_on(), fill_place();
    const bool replaces = !waiting_.empty();
    waiting_ = picture;
    return !replaces;
  }
  void close() override {
    if (!waiting_.empty()) fill_place();
    file_->close();
  }
  uint64_t bytes() const override { return earlier_bytes_ + file_->bytes(); }
  uint64_t files() const override { return files_; }

 private:
  void fill_place() {
    if (!waiting_.empty()) {
      if (!cv::imencode(".jpg", waiting_, jpeg_, {cv::IMWRITE_JPEG_QUALITY, kJpegQuality}))
        throw Error(path_ + ": a picture could not be encoded as JPEG");
      waiting_.release();
    }
    if (file_->pictures() > 0 && file_->bytes() + jpeg_.size() + AviFile::kBytesAround > file_bytes_)
      next_file();
    file_->write(jpeg_);
  }
  void next_file() {
    file_->close();
    earlier_bytes_ += file_->bytes();
    path_ = free_recording_name(path_);
    file_ = std::make_unique<AviFile>(path_);
    file_->begin(size_.width, size_.height, kVideoFps);
    ++files_;
  }

  std::string path_;  // of the file that is written now
  const uint64_t file_bytes_;
  std::unique_ptr<AviFile> file_;
  uint64_t earlier_bytes_ = 0, files_ = 1;
  cv::Size size_;
  cv::Mat waiting_;            // the picture of the place to be filled next
  std::vector<uint8_t> jpeg_;  // of the last place that was filled
  double first_at_ = 0;
  int64_t place_ = 0;  // to be filled next, in thirtieths of a second
};

class Folder final : public RecordingFiles {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {
    std::error_code fault;
    fs::create_directories(path_, fault);
    if (!fs::is_directory(path_, fault))
      throw Error(fmt::format("{}: the folder cannot be made ({})", path_,
                              fault ? fault.message() : "a file is there"));
    if (holds_pictures(path_))
      throw Error(fmt::format("{}: holds pictures already, expected the name of a new folder", path_));
    const std::string probe = path_ + "/.convscope";
    write_file(probe, {});
    fs::remove(probe, fault);
  }
  bool write(const cv::Mat& picture, double, const std::function<void()>& go_on) override {
    go_on();
    std::vector<uint8_t> png;
    // the fastest compression: the disk has to follow the screen
    if (!cv::imencode(".png", picture, png, {cv::IMWRITE_PNG_COMPRESSION, 1}))
      throw Error(path_ + ": a picture could not be encoded as PNG");
    write_file(fmt::format("{}/{:06}.png", path_, ++count_), std::as_bytes(std::span(png)));
    bytes_ += png.size();
    return true;
  }
  void close() override {}
  uint64_t bytes() const override { return bytes_; }
  uint64_t files() const override { return 1; }

 private:
  std::string path_;
  uint64_t count_ = 0, bytes_ = 0;
};

bool is_video(const std::string& path) { return fs::path(path).extension() == ".avi"; }

bool holds_recording(const std::string& path) {
  std::error_code fault;
  return fs::is_directory(path, fault) && !is_video(path) ? holds_pictures(path) : fs::exists(path, fault);
}

}  // namespace

std::unique_ptr<RecordingFiles> make_recording_files(const std::string& path, uint64_t file_bytes) {
  if (is_video(path)) return std::make_unique<Video>(path, file_bytes);
  return std::make_unique<Folder>(path);
}

std::string free_recording_name(const std::string& path) {
  if (!holds_recording(path)) return path;
  constexpr std::size_t kMostDigits = 4;  // more are a date
  const std::string extension = is_video(path) ? ".avi" : "";
  std::string base = path.substr(0, path.size() - extension.size());
  while (base.ends_with('/')) base.pop_back();
  int number = 1;
  const std::size_t dash = base.rfind('-');
  const std::string digits = dash == std::string::npos ? "" : base.substr(dash + 1);
  if (is_number(digits) && digits.size() <= kMostDigits) {
    number = std::stoi(digits);
    base.resize(dash);
  }
  while (true) {
    std::string name = fmt::format("{}-{}{}", base, ++number, extension);
    if (!holds_recording(name)) return name;
  }
}

}  // namespace convscope
