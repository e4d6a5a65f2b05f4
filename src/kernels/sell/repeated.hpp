// SPDX-License-Identifier: BSD-3-Clause
// Multiplies repeated rows (layout.hpp) on the device.
#pragma once

#include <cstdint>

#include "device/span.hpp"
#include "kernels/sell/device_layout.hpp"

namespace trireme::sell {

// How the product of one layout is launched. Value: double, float, Half.
template <class Value>
class RepeatedProduct {
 public:
  RepeatedProduct() = default;
  explicit RepeatedProduct(const DeviceLayout<Value>& layout);

  // The partial sums that multiply() has at most.
  int partials() const { return blocks_; }
  // y = A x, or y += A x where `add`. Where `dots` is not empty, it becomes numbers whose sum is
  // x_of_rows . A x, where x_of_rows has one number per row; it has partials() elements or more.
  // `diagonal` may be empty; see CudaKernel::add_diagonal(). The layout has repeated rows.
  // Asynchronous in `stream`.
  void multiply(const DeviceLayout<Value>& layout, DeviceSpan<const Value> x,
                DeviceSpan<const Value> x_of_rows, DeviceSpan<const float> diagonal,
                DeviceSpan<Value> y, bool add, DeviceSpan<double> dots, StreamRef stream) const;

 private:
  int blocks_ = 0;
  std::size_t shared_bytes_ =
      0;  // of the patterns with their values; 0: they stay in global memory
};

}  // namespace trireme::sell
