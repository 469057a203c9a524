#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.h"
#include "kernels/parallel.h"
#include "kernels/targets/gemm.h"

namespace convscope::emulated {

GemmPlan plan_gemm(const GemmSize&, const float*) { return {}; }
GemmPlan plan_gemm(const GemmSize&, const double*) { return {}; }

void gemm(const GemmPlan&, const GemmSize& s, const float* a, const float* b, float* c) {
  for (int64_t i = 0; i < s.batch; ++i) {
    const dnnl_status_t status = dnnl_sgemm('T', 'N', s.m, s.n, s.k, 1.0f, a, s.m, b + i * s.b_stride,
                                            s.b_pitch, 0.0f, c + i * s.c_stride, s.c_pitch);
    if (status != dnnl_success) throw Error("oneDNN: SGEMM failed, status " + std::to_string(status));
  }
}

// oneDNN has no product of doubles. A strip of columns stays in the caches while all rows of c pass over it.
void gemm(const GemmPlan&, const GemmSize& s, const double* a, const double* b, double* c) {
  constexpr int64_t kStrip = 512;
  const int64_t strips = (s.n + kStrip - 1) / kStrip;
  parallel_for(strips * s.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t matrix = t / strips, first = t % strips * kStrip;
      const int64_t count = std::min(kStrip, s.n - first);
      for (int64_t row = 0; row < s.m; ++row) {
        double sum[kStrip] = {};
        for (int64_t k = 0; k < s.k; ++k) {
          const double factor = a[k * s.m + row];
          const double* from = b + matrix * s.b_stride + k * s.b_pitch + first;
          for (int64_t j = 0; j < count; ++j) sum[j] = std::fma(factor, from[j], sum[j]);
        }
        std::copy_n(sum, count, c + matrix * s.c_stride + row * s.c_pitch + first);
      }
    }
  });
}

}  // namespace convscope::emulated
