// SPDX-License-Identifier: BSD-3-Clause
// The product of a SELL layout with several vectors on CUDA.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "device/multi_vector.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/sell/device_layout.hpp"

namespace trireme::sell {

// What decides how far ahead slices are prefetched.
struct Gpu {
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t bytes_per_slice = 0;  // of the layout: the mean
};

// What the product needs beside the layout. Value: double, float.
template <class Value>
class Vectors {
 public:
  Vectors() = default;
  // Allocates 2 bytes per nonzero of the rows kept apart.
  Vectors(const DeviceLayout<Value>& layout, StreamRef stream);

  // Y = A X, or Y += A X where `add`, for vectors side by side. `diagonal` is empty, or in FP32
  // that of CudaKernel::add_diagonal(). Asynchronous in `stream`.
  void multiply(const DeviceLayout<Value>& layout, DeviceMultiVector<const Value> x,
                DeviceMultiVector<Value> y, bool add, DeviceSpan<const float> diagonal,
                StreamRef stream);

 private:
  Gpu gpu_;
  DeviceBuffer<double> parts_;  // sums of rows that units of the rows kept apart share
};

}  // namespace trireme::sell
