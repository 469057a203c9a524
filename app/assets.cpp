#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "app/bank.h"
#include "kernels/error.h"

namespace convscope {
namespace fs = std::filesystem;

std::string assets_folder() {
  std::vector<std::string> places;
  const char* who = "assets";
  // a folder that the user names is the only one looked at: a typo must not silently show other banks
  if (const char* chosen = std::getenv("CONVSCOPE_ASSETS"); chosen && *chosen) {
    places.emplace_back(chosen);
    who = "CONVSCOPE_ASSETS";
  } else {
    std::error_code none;
    const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
    if (!none) {
      places.push_back((program / "assets").string());
      places.push_back((program / "../assets").lexically_normal().string());
      places.push_back((program / "../share/convscope/assets").lexically_normal().string());
    }
    places.emplace_back(CONVSCOPE_SOURCE_ASSETS);
  }
  for (const std::string& place : places) {
    std::error_code none;
    if (fs::is_directory(fs::path(place) / "banks", none)) return place;
  }
  throw Error(
      fmt::format("{}: no folder with banks/ in it found; looked at {}", who, fmt::join(places, ", ")));
}

}  // namespace convscope
