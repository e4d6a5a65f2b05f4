// SPDX-License-Identifier: BSD-3-Clause
// Sums over a vector in device memory that the host reads. This header compiles without CUDA; in
// such a build the constructor throws Error{resource}.
#pragma once

#include <cstddef>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme {

// What one pass tells about a vector.
struct VectorFacts {
  double largest = 0;  // magnitude of those that are finite
  double squares = 0;  // sum of v_i^2 as it comes out, which may overflow or underflow
  bool finite = true;
};

// Of r = b - A x, and of R, the inverse sizes of rows.
struct ResidualSums {
  double squares = 0;        // r.r
  double of_rows = 0;        // Rr.Rr
  double of_rows_and_b = 0;  // Rb.Rb
};

// Owns the memory of the sums. Every run gives the same bits on the same GPU. One thread at a time
// uses it.
class VectorSums {
 public:
  // Works in `stream`, which must outlive it, on the current device.
  explicit VectorSums(StreamRef stream);

  // Waits for the stream.
  VectorFacts facts_of(DeviceSpan<const double> v);
  // r = b - r, and its sums. `sizes` is R, or empty: the sums with R are 0. Waits for the stream.
  ResidualSums subtract_from(DeviceSpan<const double> b, DeviceSpan<double> r,
                             DeviceSpan<const double> sizes);

 private:
  static constexpr int kSums = 3;
  template <class Terms>
  void reduce(std::size_t size, const Terms& terms);

  StreamRef stream_;
  int most_blocks_;
  DeviceBuffer<double> partials_;
  DeviceBuffer<unsigned> arrived_;  // blocks of the present pass
  PinnedBuffer<double> totals_;     // the largest magnitude, the sums, and the pass that wrote them
  double* totals_there_;            // their device address
  double pass_ = 0;
};

// to = 2^exponent from, or that times -1. `to` may be `from`. Asynchronous in `stream`.
void scale_on_device(DeviceSpan<const double> from, int exponent, bool negated,
                     DeviceSpan<double> to, StreamRef stream);

}  // namespace trireme
