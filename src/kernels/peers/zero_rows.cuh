// SPDX-License-Identifier: BSD-3-Clause
// Sets rows without nonzeros to zero, for layouts that store no entry for them.
#pragma once

#include <cstdint>

#include "device/check.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/numeric.cuh"

namespace trireme {
namespace detail {
template <class Vector>
__global__ void zero_rows(std::int64_t count, const std::int32_t* __restrict__ rows,
                          Vector* __restrict__ y) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (k < count) store(y + rows[k], Sum<Vector>{});
}
}  // namespace detail

// Asynchronous in `stream`.
template <class Vector>
void zero_rows(DeviceSpan<const std::int32_t> rows, DeviceSpan<Vector> y, StreamRef stream) {
  if (rows.empty()) return;
  const auto count = static_cast<std::int64_t>(rows.size());
  detail::zero_rows<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(
      count, rows.data(), y.data());
  check_launch();
}

}  // namespace trireme
