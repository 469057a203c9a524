#include "app/window/results.h"

namespace convscope {

double HostMaps::value(int64_t plane, int64_t y, int64_t x) const {
  const ConvShape& s = prepared->operation.problem.shape;
  const int64_t i = (plane * s.out_h() + y) * s.out_w() + x;
  return info.precision == Precision::fp64 ? static_cast<const double*>(values)[i]
                                           : static_cast<double>(static_cast<const float*>(values)[i]);
}

}  // namespace convscope
