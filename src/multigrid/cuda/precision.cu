// SPDX-License-Identifier: BSD-3-Clause
// One pass over the values of a matrix, one thread per row.
#include <limits>

#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_parts.hpp"

namespace trireme::multigrid {
namespace {

struct OutsideRange {
  const std::int32_t* row_ptr;
  const double* values;
  double least, most;

  __device__ std::int64_t operator()(std::int64_t i) const {
    double largest = 0;
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      const double value = values[k] < 0 ? -values[k] : values[k];
      if (value > largest) largest = value;
    }
    return largest > most || (largest > 0 && largest < least) ? 1 : 0;
  }
};

}  // namespace

bool fits_fp32(const DeviceCsr<double>& a, bool rows, StreamRef stream) {
  using Float = std::numeric_limits<float>;
  const OutsideRange outside{a.row_ptr.data(), a.values.data(), rows ? double{Float::min()} : 0.0,
                             double{Float::max()}};
  return CudaPlace(stream).maximum(a.rows, std::int64_t{0}, outside) == 0;
}

}  // namespace trireme::multigrid
