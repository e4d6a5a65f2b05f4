// SPDX-License-Identifier: BSD-3-Clause
// Checks that a CUDA kernel multiplies a matrix by several vectors as the kernel contract promises.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/registry.hpp"
#include "support/device_product.hpp"
#include "support/host_product.hpp"
#include "support/random.hpp"

namespace trireme::test {

// A kernel in device memory with its matrix, and vectors side by side with `gap` elements between
// the rows.
template <class Value>
class DeviceVectors {
 public:
  DeviceVectors(CudaBuilder<Value> builder, const CsrMatrix<Value>& a, std::int64_t gap = 0)
      : a_(a),
        gap_(gap),
        on_device_(to_device(a.view(), stream_)),
        kernel_(builder(on_device_.view(), stream_)) {}

  bool has_product() const { return kernel_->multiplies_vectors(); }
  const CsrMatrix<Value>& matrix() const { return a_; }

  // X has cols * (width + gap) elements, `before` rows * (width + gap). Returns Y = A X or
  // before + A X, with the gaps.
  Array<Value> multiply(const Array<Value>& x, std::int64_t width, const Array<Value>& before,
                        Accumulate how) {
    const auto on_device = to_device(std::span<const Value>(x), stream_);
    const auto y = to_device(std::span<const Value>(before), stream_);
    kernel_->multi_multiply({on_device.data(), a_.cols, width, stride(width), 1},
                            {y.data(), a_.rows, width, stride(width), 1}, how, stream_);
    return to_host(y.view(), stream_);
  }
  void update_values(const Array<Value>& values) {
    a_.values = values;
    new_values_ = to_device(std::span<const Value>(a_.values), stream_);
    kernel_->update_values(new_values_.view(), stream_);
    fill_nan(on_device_.values.span(), stream_);
  }

  std::int64_t stride(std::int64_t width) const { return std::max<std::int64_t>(1, width + gap_); }

 private:
  Stream stream_;
  CsrMatrix<Value> a_;
  std::int64_t gap_;
  DeviceCsrMatrix<Value> on_device_;
  DeviceBuffer<Value> new_values_;
  std::unique_ptr<CudaKernel<Value>> kernel_;
};

template <class Value>
Array<Value> vector_of(const Array<Value>& all, std::int64_t size, std::int64_t stride,
                       std::int64_t j) {
  Array<Value> one(size);
  for (std::int64_t i = 0; i < size; ++i) one[i] = all[i * stride + j];
  return one;
}

// Checks Y = A X into a poisoned Y and Y += A X. Nothing between the vectors may change.
template <class Value>
void expect_products(DeviceVectors<Value>& product, std::int64_t width) {
  const CsrView<Value> a = product.matrix().view();
  const std::int64_t stride = product.stride(width);
  Array<Value> x = poisoned_vector<Value>(a.cols * stride);
  Array<Value> start = poisoned_vector<Value>(a.rows * stride);
  Random random(5);
  for (std::int64_t i = 0; i < a.cols; ++i)
    for (std::int64_t j = 0; j < width; ++j) x[i * stride + j] = random.value<Value>();
  for (const Accumulate how : {Accumulate::no, Accumulate::yes}) {
    if (how == Accumulate::yes)
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < width; ++j) start[i * stride + j] = random.value<Value>();
    Array<Value> y = product.multiply(x, width, start, how);
    for (std::int64_t j = 0; j < width; ++j) {
      const auto before =
          how == Accumulate::yes ? vector_of(start, a.rows, stride, j) : Array<Value>();
      EXPECT_TRUE(judge(compare_product<Value>(a, vector_of(x, a.cols, stride, j),
                                               vector_of(y, a.rows, stride, j), before),
                        how == Accumulate::yes ? "Y += A X" : "Y = A X"))
          << "vector " << j << " of " << width;
    }
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < width; ++j) y[i * stride + j] = start[i * stride + j];
    EXPECT_TRUE(same_bits(y, start)) << "something changed between the vectors";
  }
}

}  // namespace trireme::test
