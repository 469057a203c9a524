#include "app/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

void write_plain(const std::string& path, std::span<const std::byte> bytes, const std::string& shown) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) throw Error(fmt::format("{}: cannot be written: {}", shown, std::strerror(errno)));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("{}: cannot be written: {}", shown, std::strerror(errno)));
    done += static_cast<std::size_t>(n);
  }
  // full disks and network folders report late, at close
  if (file.close() != 0) throw Error(fmt::format("{}: cannot be written: {}", shown, std::strerror(errno)));
}

std::vector<std::byte> memory_for(const std::string& path, std::size_t bytes) try {
  return std::vector<std::byte>(bytes);
} catch (const std::bad_alloc&) {
  throw Error(fmt::format("{}: needs {} bytes of memory, which are not to be had", path, bytes));
}

std::string temporary_name(const std::string& path) { return fmt::format("{}.{}.tmp", path, ::getpid()); }

/// A folder, made with those above it where missing; what was made vanishes again, if still empty, unless
/// kept.
class NewFolder {
 public:
  explicit NewFolder(const std::string& folder) {
    std::error_code fault;
    for (fs::path path = folder; !path.empty() && !fs::exists(path, fault); path = path.parent_path())
      made_.push_back(path);
    fs::create_directories(folder, fault);
    // where it stops halfway, the destructor is not run: what was made goes here
    if (fault || !fs::is_directory(folder)) {
      remove();
      throw Error(fmt::format("{}: this folder cannot be made: {}", folder,
                              fault ? fault.message() : "a file of that name exists"));
    }
  }
  ~NewFolder() { remove(); }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  void keep() { made_.clear(); }

 private:
  void remove() {
    for (const fs::path& path : made_) ::rmdir(path.c_str());
  }
  std::vector<fs::path> made_;  // deepest first
};

/// Temporary files that vanish unless they have been renamed.
class TemporaryFiles {
 public:
  ~TemporaryFiles() {
    for (const auto& [temporary, target] : names_) ::unlink(temporary.c_str());
  }
  void write(const std::string& target, std::span<const std::byte> bytes) {
    if (fs::is_directory(target)) throw Error(fmt::format("{}: cannot be written: it is a folder", target));
    names_.emplace_back(temporary_name(target), target);
    write_plain(names_.back().first, bytes, target);
  }
  void rename_all() {
    for (const auto& [temporary, target] : names_) {
      if (::rename(temporary.c_str(), target.c_str()) != 0)
        throw Error(fmt::format("{}: cannot be written: {}", target, std::strerror(errno)));
    }
    names_.clear();
  }

 private:
  std::vector<std::pair<std::string, std::string>> names_;
};

}  // namespace

std::vector<std::byte> read_file(const std::string& path, int64_t most) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) throw Error(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) throw Error(fmt::format("{}: is a folder, expected a file", path));
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: is not an ordinary file", path));
  if (status.st_size == 0) throw Error(fmt::format("{}: is empty (0 bytes)", path));
  if (status.st_size > most)
    throw Error(fmt::format("{}: has {} bytes, expected at most {}", path, status.st_size, most));
  std::vector<std::byte> bytes = memory_for(path, static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

std::string read_text(const std::string& path) {
  constexpr int64_t kMaxText = int64_t{1} << 26;
  const std::vector<std::byte> bytes = read_file(path, kMaxText);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_files(const std::string& folder, std::span<const OutputFile> files) {
  NewFolder made(folder);
  TemporaryFiles temporary;
  for (const OutputFile& file : files) temporary.write((fs::path(folder) / file.name).string(), file.bytes);
  temporary.rename_all();
  made.keep();
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  TemporaryFiles temporary;
  temporary.write(path, bytes);
  temporary.rename_all();
}

void write_text(const std::string& path, const std::string& text) { write_file(path, to_bytes(text)); }

std::vector<std::byte> to_bytes(const std::string& text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string lower_ending(const std::string& path) { return lower(fs::path(path).extension().string()); }

std::string hash_of(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

}  // namespace convscope
