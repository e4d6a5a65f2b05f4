// SPDX-License-Identifier: BSD-3-Clause
// y += G g for a ghost block of which few rows have entries: only those are stored and visited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Compressed by rows that have entries. A few lanes work on a row, by the mean length.
class BoundaryProduct {
 public:
  BoundaryProduct(const CsrMatrix<double>& ghost, StreamRef stream);

  void multiply(DeviceSpan<const double> ghosts, DeviceSpan<double> y, StreamRef stream) const;
  // Also writes dot_partials() numbers, in a fixed order, whose sum is x . (G g).
  void multiply_and_dot(DeviceSpan<const double> ghosts, DeviceSpan<const double> x,
                        DeviceSpan<double> y, DeviceSpan<double> partials, StreamRef stream) const;
  std::size_t dot_partials() const { return static_cast<std::size_t>(blocks_); }
  // In host memory, in the order of the block that it was built from.
  void update_values(std::span<const double> values, StreamRef stream);
  KernelStatistics statistics() const;

 private:
  DeviceBuffer<std::int32_t> rows_, row_ptr_, col_idx_;
  DeviceBuffer<double> values_;
  int lanes_ = 1;  // a row
  int blocks_ = 0;
};

// Whether so few rows of the block have entries that BoundaryProduct suits it.
bool is_boundary(const CsrMatrix<double>& ghost);

}  // namespace trireme
