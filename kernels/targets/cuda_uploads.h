#pragma once

#include <memory>

#include "kernels/uploads.h"

namespace convscope::cuda {

class CudaStages;

/// Uploads whose times go to these stages, which must outlive them.
std::unique_ptr<Uploads> make_uploads(CudaStages&);

}  // namespace convscope::cuda
