// SPDX-License-Identifier: BSD-3-Clause
// The host makes the factors in a build without CUDA.
#include "inverses/cuda/gpu_factors.hpp"

namespace trireme::inverses {

std::unique_ptr<GpuFactors> GpuFactors::make(const DeviceCsr<double>&, std::int32_t) {
  return nullptr;
}

}  // namespace trireme::inverses
