// What the suites of the program share: a folder of their own, the message of a fault, arrays as files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "kernels/error.h"

namespace convscope::testing {

/// A folder that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "convscope-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The message of the Error that `call` throws; "(no error)" where it throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "(no error)";
}

/// One line that holds all of `parts`.
inline ::testing::AssertionResult one_line_with(const std::string& text,
                                                const std::vector<std::string>& parts) {
  if (text.find('\n') != std::string::npos)
    return ::testing::AssertionFailure() << "more than a line: " << text;
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "\"" << part << "\" is not in: " << text;
  }
  return ::testing::AssertionSuccess();
}

inline void write_string(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_string(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// An .npy file put together by hand, independent of the program's own writer.
inline std::string npy_text(const std::string& descr, bool fortran, const std::string& shape,
                            const std::string& data, int version = 1) {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
                             ", 'shape': (" + shape + "), }\n";
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const std::size_t length = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(length >> (8 * i) & 0xff);
  return out + header + data;
}

template <class T>
std::string bytes_of_values(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace convscope::testing
