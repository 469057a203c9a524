// Images one after the other: a folder, frame_%04d.png, or shot-*.png.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <functional>
#include <regex>
#include <vector>

#include "app/files.h"
#include "app/image_file.h"
#include "app/live/natural_order.h"
#include "app/live/readers.h"
#include "app/source.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

bool is_image_name(const std::string& name) {
  const std::string ending = lower_ending(name);
  const std::vector<std::string>& endings = source_endings();
  return ending != ".npy" && std::find(endings.begin(), endings.end(), ending) != endings.end();
}

/// frame_%04d.png, shot-*.png as a regular expression: %0Nd takes N digits or more, %d any number of them.
std::regex expression_of(const std::string& pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*') {
      out += ".*";
    } else if (c == '?') {
      out += '.';
    } else if (const std::size_t d = pattern.find_first_not_of("0123456789", i + 1);
               c == '%' && d != std::string::npos && pattern[d] == 'd') {
      const std::string digits = pattern.substr(i + 1, d - i - 1);
      const bool padded = digits.size() > 1 && digits[0] == '0';
      out += padded ? fmt::format("[0-9]{{{},}}", std::min(std::stoi(digits.substr(1, 2)), 64)) : "[0-9]+";
      i = d;
    } else {
      if (!std::isalnum(static_cast<unsigned char>(c))) out += '\\';
      out += c;
    }
  }
  return std::regex(out);
}

std::vector<std::string> list_files(const std::string& source) {
  std::error_code fault;
  const bool whole_folder = fs::is_directory(source, fault);
  const fs::path folder = whole_folder ? fs::path(source) : fs::path(source).parent_path();
  std::function<bool(const std::string&)> wanted = is_image_name;
  if (!whole_folder) {
    wanted = [expression = expression_of(fs::path(source).filename().string())](const std::string& name) {
      return std::regex_match(name, expression);
    };
  }
  std::vector<std::string> names;
  fs::directory_iterator at(folder.empty() ? "." : folder, fault), end;
  for (; !fault && at != end; at.increment(fault)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with(".") && wanted(name) && at->is_regular_file(ignored)) names.push_back(name);
  }
  if (fault) throw Error(fmt::format("{}: cannot be listed: {}", folder.string(), fault.message()));
  std::sort(names.begin(), names.end(), natural_less);
  for (std::string& name : names) name = (folder / name).string();
  return names;
}

class SequenceReader : public FrameReader {
 public:
  SequenceReader(const std::string& source, double rate) : source_(source), files_(list_files(source)) {
    std::error_code ignored;
    if (files_.empty() && fs::is_directory(source, ignored))
      throw Error(
          fmt::format("{}: is a folder without images, expected a file or a folder of images", source));
    if (files_.empty()) throw Error(fmt::format("{}: no file has such a name", source));
    info_.kind = "images";
    info_.device = fmt::format("{} files", files_.size());
    info_.fps = rate;
    info_.frames = static_cast<int64_t>(files_.size());
    info_.seconds = static_cast<double>(info_.frames) / rate;
    info_.seekable = true;
  }

  const ReaderInfo& info() const override { return info_; }
  void seek(int64_t index) override { index_ = std::clamp<int64_t>(index, 0, info_.frames - 1); }

 protected:
  std::shared_ptr<Frame> next(FramePool&) override {
    while (index_ < info_.frames) {
      const std::string& path = files_[static_cast<std::size_t>(index_)];
      const int64_t index = index_++;
      std::shared_ptr<Frame> frame;
      try {
        frame = read_image_file(path);
      } catch (const Error& e) {
        // one damaged file is left out and named; nothing but damaged files is a fault
        info_.note = fmt::format("left out: {}", e.what());
        if (++damaged_in_a_row_ >= info_.frames) throw;
        continue;
      }
      damaged_in_a_row_ = 0;
      frame->name = source_;
      frame->index = index;
      frame->seconds = static_cast<double>(index) / info_.fps;
      info_.w = frame->layout.w, info_.h = frame->layout.h;
      info_.format = frame->format;
      return frame;
    }
    return nullptr;
  }

 private:
  const std::string source_;
  const std::vector<std::string> files_;
  ReaderInfo info_;
  int64_t index_ = 0, damaged_in_a_row_ = 0;
};

}  // namespace

std::unique_ptr<FrameReader> open_sequence(const std::string& source, double rate) {
  return std::make_unique<SequenceReader>(source, rate);
}

}  // namespace convscope
