#include "app/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "app/files.h"
#include "app/image_file.h"
#include "app/printable.h"
#include "kernels/error.h"

namespace convscope {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6;

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// Reads the header's Python dictionary literal: three keys, any order, no nesting but the shape's tuple.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if ((key == "descr" && descr) || (key == "fortran_order" && order) || (key == "shape" && shape))
        fail(fmt::format("the key {} stands there twice", key));
      if (key == "descr") {
        header.descr = descr_value();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran = truth();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        fail(fmt::format("unknown key '{}'", printable(shortened(key))));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (!text_.empty()) fail(fmt::format("nothing expected after its '}}', found \"{}\"", next()));
    if (!descr || !order || !shape) fail("the keys descr, fortran_order and shape are expected");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}: broken .npy header: {}", name_, what));
  }
  /// What stands here, for the message.
  std::string next() const { return printable(std::string(text_.substr(0, 20))); }
  void skip() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n' || text_.front() == '\t'))
      text_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("'{}' expected before \"{}\"", c, next()));
  }
  std::string quoted() {
    skip();
    const char quote = text_.empty() ? '\0' : text_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail(fmt::format("a string expected at \"{}\"", next()));
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  std::string descr_value() {
    skip();
    if (!text_.empty() && text_.front() == '[')
      throw Error(fmt::format("{}: a structured array, expected one of u1, u2, f4, f8", name_));
    return quoted();
  }
  bool truth() {
    skip();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    fail("fortran_order is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!take(')')) {
      skip();
      int64_t value = 0;
      const auto [end, fault] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
      if (fault != std::errc() || value < 0) fail(fmt::format("a size expected at \"{}\"", next()));
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      values.push_back(value);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view text_;
  const std::string& name_;
};

struct ElementType {
  PixelType type;
  bool swapped;
};

ElementType element_type(const std::string& descr, const std::string& name) {
  const char order = descr.empty() ? '\0' : descr.front();
  const std::string kind = descr.empty() ? "" : descr.substr(1);
  std::optional<PixelType> type;
  if (kind == "u1") type = PixelType::u8;
  if (kind == "u2") type = PixelType::u16;
  if (kind == "f4") type = PixelType::f32;
  if (kind == "f8") type = PixelType::f64;
  const bool ordered = order == '<' || order == '>' || order == '=' || (order == '|' && kind == "u1");
  if (!type || !ordered)
    throw Error(
        fmt::format("{}: holds values of type '{}', expected uint8 (u1), uint16 (u2), float32 (f4) or "
                    "float64 (f8)",
                    name, printable(shortened(descr))));
  return {*type, order == '>' && kind != "u1"};
}

void swap_bytes(std::vector<std::byte>& data, std::size_t width) {
  for (std::size_t i = 0; i + width <= data.size(); i += width)
    std::reverse(data.begin() + static_cast<std::ptrdiff_t>(i),
                 data.begin() + static_cast<std::ptrdiff_t>(i + width));
}

/// Fortran order (first index fastest) to C order.
std::vector<std::byte> transposed(const std::vector<std::byte>& data, std::span<const int64_t> shape,
                                  std::size_t width) {
  std::vector<std::byte> out(data.size());
  std::vector<int64_t> index(shape.size(), 0), step(shape.size(), 1);
  for (std::size_t d = 1; d < shape.size(); ++d) step[d] = step[d - 1] * shape[d - 1];
  int64_t from = 0;
  for (std::size_t to = 0; to < data.size(); to += width) {
    std::memcpy(out.data() + to, data.data() + static_cast<std::size_t>(from) * width, width);
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += step[d];
      if (++index[d] < shape[d]) break;
      from -= step[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

/// Bytes before the data, and the header's text.
std::pair<std::size_t, std::string_view> header_text(std::span<const std::byte> bytes,
                                                     const std::string& name) {
  if (bytes.size() < kMagicBytes + 4 || std::memcmp(bytes.data(), kMagic, kMagicBytes) != 0)
    throw Error(fmt::format("{}: is not an .npy array (its first bytes are not \\x93NUMPY)", name));
  const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  if (at(6) < 1 || at(6) > 3 || at(7) != 0)
    throw Error(fmt::format("{}: .npy format version {}.{}, expected 1.0, 2.0 or 3.0", name, at(6), at(7)));
  const std::size_t start = at(6) == 1 ? 10 : 12;
  const std::size_t length = bytes.size() < start ? 0
                             : at(6) == 1         ? at(8) | at(9) << 8
                                                  : at(8) | at(9) << 8 | at(10) << 16 | at(11) << 24;
  if (bytes.size() < start + length || length == 0)
    throw Error(fmt::format("{}: truncated in its .npy header: {} bytes, expected {} before the data", name,
                            bytes.size(), start + length));
  return {start + length, {reinterpret_cast<const char*>(bytes.data()) + start, length}};
}

}  // namespace

int64_t NpyArray::size() const {
  int64_t product = 1;
  for (const int64_t n : shape) product *= n;
  return product;
}

std::vector<double> NpyArray::values() const {
  std::vector<double> out(static_cast<std::size_t>(size()));
  const auto convert = [&]<class T>(T) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      T value;
      std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
      out[i] = static_cast<double>(value);
    }
  };
  switch (type) {
    case PixelType::u8:
      convert(uint8_t{});
      break;
    case PixelType::u16:
      convert(uint16_t{});
      break;
    case PixelType::f32:
      convert(float{});
      break;
    case PixelType::f64:
      convert(double{});
      break;
  }
  return out;
}

std::string shape_text(std::span<const int64_t> shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  const auto [start, text] = header_text(bytes, name);
  const Header header = HeaderParser(text, name).parse();
  const ElementType element = element_type(header.descr, name);
  const std::size_t width = bytes_of(element.type);
  int64_t size = 1;
  for (const int64_t n : header.shape) {
    if (__builtin_mul_overflow(size, n, &size) || size > (int64_t{1} << 40))
      throw Error(fmt::format("{}: its shape ({}) is beyond any memory", name, shape_text(header.shape)));
  }
  const std::size_t wanted = static_cast<std::size_t>(size) * width, found = bytes.size() - start;
  if (found != wanted)
    throw Error(fmt::format("{}: {}: {} bytes of data, expected {} for {} values of '{}'", name,
                            found < wanted ? "truncated" : "trailing bytes", found, wanted,
                            shape_text(header.shape), header.descr));
  NpyArray array{element.type, header.shape, {}};
  array.data.assign(bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end());
  if (element.swapped) swap_bytes(array.data, width);
  if (header.fortran && header.shape.size() > 1) array.data = transposed(array.data, header.shape, width);
  return array;
}

NpyArray read_npy(const std::string& path) {
  // the largest array that a source takes, in its widest type, and room for a header
  constexpr int64_t kMaxBytes = kMaxValues * 8 + 65536;
  return parse_npy(read_file(path, kMaxBytes), path);
}

std::vector<std::byte> npy_bytes(Precision precision, std::span<const int64_t> shape, const void* values) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   precision == Precision::fp64 ? "<f8" : "<f4", fmt::join(shape, ", "),
                                   shape.size() == 1 ? "," : "");
  // magic, version and length are 10 bytes, a newline ends the header, and the data starts at a multiple of
  // 64
  header.append((64 - (kMagicBytes + 4 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out(kMagic, kMagicBytes);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  std::size_t size = bytes_of(precision);
  for (const int64_t n : shape) size *= static_cast<std::size_t>(n);
  std::vector<std::byte> bytes = to_bytes(out);
  const auto* data = static_cast<const std::byte*>(values);
  bytes.insert(bytes.end(), data, data + size);
  return bytes;
}

}  // namespace convscope
