// SPDX-License-Identifier: BSD-3-Clause
// y += G g for a ghost block G in which few rows have entries: only these rows are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/buffer.hpp"
#include "device/multi_vector.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The block lies in device memory. The mean length of a row decides how many lanes of a warp work
// on one row.
class BoundaryProduct {
 public:
  // Needs is_boundary(ghost) (boundary_rows.hpp).
  BoundaryProduct(const CsrMatrix<double>& ghost, StreamRef stream);

  // y += G g, for a y in FP64 or FP32: the block, g and sums are in FP64. The work is queued in
  // `stream`.
  template <class Value>
  void multiply(DeviceSpan<const double> ghosts, DeviceSpan<Value> y, StreamRef stream) const;
  // The same; also writes dot_partials() terms, in a fixed order, whose sum is x . (G g).
  template <class Value>
  void multiply_and_dot(DeviceSpan<const double> ghosts, DeviceSpan<const Value> x,
                        DeviceSpan<Value> y, DeviceSpan<double> partials, StreamRef stream) const;
  // Y += G g for several vectors side by side.
  void multi_multiply(DeviceMultiVector<const double> ghosts, DeviceMultiVector<double> y,
                      StreamRef stream) const;
  std::size_t dot_partials() const { return static_cast<std::size_t>(blocks_); }
  // Takes new values from host memory, in the order of the block that the product was built from.
  void update_values(std::span<const double> values, StreamRef stream);
  KernelStatistics statistics() const;

 private:
  DeviceBuffer<std::int32_t> rows_, row_ptr_, col_idx_;
  DeviceBuffer<double> values_;
  int lanes_ = 1;  // per row
  int blocks_ = 0;
};

// The instances of the templates above, for the file that defines them.
#define TRIREME_BOUNDARY_PRODUCTS                                                                  \
  template void BoundaryProduct::multiply(DeviceSpan<const double>, DeviceSpan<double>, StreamRef) \
      const;                                                                                       \
  template void BoundaryProduct::multiply(DeviceSpan<const double>, DeviceSpan<float>, StreamRef)  \
      const;                                                                                       \
  template void BoundaryProduct::multiply_and_dot(DeviceSpan<const double>,                        \
                                                  DeviceSpan<const double>, DeviceSpan<double>,    \
                                                  DeviceSpan<double>, StreamRef) const;            \
  template void BoundaryProduct::multiply_and_dot(DeviceSpan<const double>,                        \
                                                  DeviceSpan<const float>, DeviceSpan<float>,      \
                                                  DeviceSpan<double>, StreamRef) const;

}  // namespace trireme
