#include "app/avi_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <utility>

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/log.h>
}

#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kIndexEntryBytes = 16, kIndexHeaderBytes = 8;

/// With what libavformat's function returned.
void check(int result, const std::string& path) {
  if (result >= 0) return;
  char reason[AV_ERROR_MAX_STRING_SIZE] = {};
  av_make_error_string(reason, sizeof reason, result);
  throw Error(fmt::format("{}: cannot be written ({})", path, reason));
}

}  // namespace

void AviFile::Free::operator()(AVFormatContext* format) const {
  avio_closep(&format->pb);
  avformat_free_context(format);
}

AviFile::AviFile(std::string path) : path_(std::move(path)) {
  // libavformat alone would write over what is there
  const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST)
    throw Error(fmt::format("{}: is there already, expected the name of a new file", path_));
  check(file < 0 ? AVERROR(errno) : 0, path_);
  ::close(file);
  av_log_set_level(AV_LOG_QUIET);  // what is said is said by Error
  AVFormatContext* format = nullptr;
  check(avformat_alloc_output_context2(&format, nullptr, "avi", nullptr), path_);
  format_.reset(format);
  check(avio_open(&format->pb, ("file:" + path_).c_str(), AVIO_FLAG_WRITE), path_);
}

AviFile::~AviFile() {
  try {
    close();
  } catch (const std::exception&) {
    // whoever wants to know calls close()
  }
}

void AviFile::begin(int width, int height, int fps) {
  AVStream* stream = avformat_new_stream(format_.get(), nullptr);
  check(stream == nullptr ? AVERROR(ENOMEM) : 0, path_);
  stream->time_base = {1, fps};
  stream->codecpar->codec_type = AVMEDIA_TYPE_VIDEO;
  stream->codecpar->codec_id = AV_CODEC_ID_MJPEG;
  stream->codecpar->width = width;
  stream->codecpar->height = height;
  flush(avformat_write_header(format_.get(), nullptr));
}

void AviFile::write(std::span<const uint8_t> jpeg) {
  AVPacket* packet = av_packet_alloc();
  check(packet == nullptr ? AVERROR(ENOMEM) : 0, path_);
  packet->data = const_cast<uint8_t*>(jpeg.data());  // is only read
  packet->size = static_cast<int>(jpeg.size());
  packet->pts = packet->dts = static_cast<int64_t>(pictures_);
  packet->duration = 1;
  packet->flags = AV_PKT_FLAG_KEY;
  const int result = av_write_frame(format_.get(), packet);
  av_packet_free(&packet);
  flush(result);
  ++pictures_;
}

void AviFile::close() {
  if (!format_) return;
  if (pictures_ == 0) {
    format_.reset();
    ::unlink(path_.c_str());
    whole_ = 0;
    return;
  }
  // after a write that failed nothing more is written: no index, which would name what is not there
  int result = av_write_trailer(format_.get());
  const int64_t bytes = avio_size(format_->pb);
  // full disks and network folders report late, at close
  const int closed = avio_closep(&format_->pb);
  format_.reset();
  if (result >= 0) {
    whole_ = static_cast<uint64_t>(bytes);
    result = closed;
  } else {
    std::error_code ignored;  // half a picture or index then stays at the end
    fs::resize_file(path_, whole_, ignored);
  }
  check(result, path_);
}

uint64_t AviFile::bytes() const {
  return !format_ || pictures_ == 0 ? whole_ : whole_ + kIndexHeaderBytes + kIndexEntryBytes * pictures_;
}

/// Hands over to the system what libavformat's function wrote, if that succeeded.
void AviFile::flush(int result) {
  check(result, path_);
  avio_flush(format_->pb);
  check(format_->pb->error, path_);
  whole_ = static_cast<uint64_t>(avio_tell(format_->pb));
}

}  // namespace convscope
