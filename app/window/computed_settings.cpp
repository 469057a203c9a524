#include "app/window/computed_settings.h"

namespace convscope {

std::string changed_key(const Settings& a, const Settings& b) {
  for (const SettingInfo& info : setting_infos()) {
    if (get(a, info.key) != get(b, info.key)) return info.key;
  }
  return "";
}

Settings computed_part(const Settings& s) {
  Settings part;
  restore_computed_part(part, s);
  return part;
}

bool same_computation(const Settings& a, const Settings& b) {
  return a.bank == b.bank && a.weights_file == b.weights_file && a.bias_file == b.bias_file &&
         a.edited_weights == b.edited_weights && a.kernel == b.kernel && a.convolution == b.convolution &&
         a.stride == b.stride && a.dilation == b.dilation && a.pad == b.pad && a.anchor == b.anchor &&
         a.border == b.border && a.activation == b.activation && a.unit_scale == b.unit_scale &&
         a.strategy == b.strategy && a.target == b.target && a.precision == b.precision &&
         a.rounding == b.rounding && a.separable_rank == b.separable_rank;
}

void restore_computed_part(Settings& s, const Settings& from) {
  s.bank = from.bank;
  s.weights_file = from.weights_file;
  s.bias_file = from.bias_file;
  s.edited_weights = from.edited_weights;
  s.kernel = from.kernel;
  s.convolution = from.convolution;
  s.stride = from.stride;
  s.dilation = from.dilation;
  s.pad = from.pad;
  s.anchor = from.anchor;
  s.border = from.border;
  s.activation = from.activation;
  s.unit_scale = from.unit_scale;
  s.strategy = from.strategy;
  s.target = from.target;
  s.precision = from.precision;
  s.rounding = from.rounding;
  s.separable_rank = from.separable_rank;
}

}  // namespace convscope
