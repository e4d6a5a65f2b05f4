// SPDX-License-Identifier: BSD-3-Clause
// The product of ragged rows (ragged.hpp) with several vectors on CUDA.
#pragma once

#include "device/buffer.hpp"
#include "device/multi_vector.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/sell/ragged_device_layout.hpp"

namespace trireme::sell {

// What the product needs beside the layout. Value: double, float.
template <class Value>
class RaggedVectors {
 public:
  RaggedVectors() = default;
  // Allocates 32 numbers for each part of a cut row.
  RaggedVectors(const RaggedDeviceLayout<Value>& layout, StreamRef stream);

  // Y = A X, or Y += A X where `add`, for vectors side by side. `diagonal` is empty, or in FP32
  // that of CudaKernel::add_diagonal(). Asynchronous in `stream`.
  void multiply(const RaggedDeviceLayout<Value>& layout, DeviceMultiVector<const Value> x,
                DeviceMultiVector<Value> y, bool add, DeviceSpan<const float> diagonal,
                StreamRef stream);

 private:
  DeviceBuffer<double> parts_;
};

}  // namespace trireme::sell
