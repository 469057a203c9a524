#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/shape.h"

namespace convscope {

/// A filter bank as a JSON file of assets/banks describes it; docs in assets/banks/README.md.
struct Bank {
  std::string name, title, about;
  std::string json;  // the file's text; make_weights reads the filters from it
};

/// The weights of a bank for an input of `c_in` channels, and a label for each feature map.
struct BankWeights {
  ConvWeights weights;
  std::vector<std::string> labels;  // c_out of them
};

/// Banks of the assets folder, in order of name; a broken file is reported in `faults`, one line each.
std::vector<Bank> load_banks(std::vector<std::string>* faults = nullptr);
/// By name, or the path of a JSON file. Throws Error.
Bank load_bank(const std::string& name_or_path);

/// Throws Error where the bank cannot serve c_in channels or this kernel size, saying why. `kernel`: the size
/// asked for; generated filters are made at that size, given ones are cropped or zero-extended about their
/// centre.
BankWeights make_weights(const Bank&, int64_t c_in, std::optional<Axes> kernel = {});

/// assets/ beside the program or of the source tree. Throws Error naming the places looked at.
std::string assets_folder();

}  // namespace convscope
