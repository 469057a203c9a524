#pragma once

#include <stdexcept>
#include <string>

namespace convscope {

/// A fault with one line for the user: what was wrong, its value, and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace convscope
