// SPDX-License-Identifier: BSD-3-Clause
// Multiplies repeated rows (layout.hpp) on the device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/span.hpp"
#include "kernels/sell/device_layout.hpp"
#include "kernels/sell/repeated_groups.hpp"

namespace trireme::sell {

// How the product of one layout is launched. Value: double, float, Half.
template <class Value>
class RepeatedProduct {
 public:
  RepeatedProduct() = default;
  // May synchronise `stream`.
  RepeatedProduct(const DeviceLayout<Value>& layout, StreamRef stream);

  // The partial sums that multiply() has at most.
  int partials() const { return std::max(blocks_, groups_.partials()); }
  // Of what multiply() reads beside the layout.
  std::int64_t stored_bytes() const { return groups_.stored_bytes(); }
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
      0;                   // of the patterns with their values; 0: they stay in global memory
  RepeatedGroups groups_;  // empty where Value is not float
  bool uniform_ = false;   // a slice is taken to have as many steps as the widest pattern
};

}  // namespace trireme::sell
