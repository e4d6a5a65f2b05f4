// SPDX-License-Identifier: BSD-3-Clause
// Checks that a CUDA kernel multiplies by a matrix as the kernel contract promises.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "kernels/registry.hpp"
#include "support/host_product.hpp"
#include "support/random.hpp"
#include "support/same_bits.hpp"

namespace trireme::test {

template <class To, class From>
CsrMatrix<To> with_values_as(const CsrMatrix<From>& a) {
  CsrMatrix<To> result{a.rows, a.cols, a.row_ptr, a.col_idx, Array<To>(a.values.size())};
  for (std::size_t k = 0; k < a.values.size(); ++k)
    result.values[k] = static_cast<To>(static_cast<double>(a.values[k]));
  return result;
}
template <>
inline CsrMatrix<Half> with_values_as(const CsrMatrix<Half>& a) {
  return a;
}

// A kernel in device memory with its matrix. Stored is the type of the values that the kernel keeps
// (float for mixed precision). Vector is the type of x, of y and of the values that the kernel is
// given.
template <class Stored, class Vector>
class DeviceProduct {
 public:
  DeviceProduct(CudaBuilder<Vector> builder, const CsrMatrix<Stored>& a)
      : a_(a),
        on_device_(to_device(with_values_as<Vector>(a).view(), stream_)),
        kernel_(builder(on_device_.view(), stream_)),
        x_(a.cols, stream_),
        y_(a.rows, stream_) {}

  CudaKernel<Vector>& kernel() { return *kernel_; }
  const Stream& stream() const { return stream_; }
  DeviceSpan<const Vector> x() const { return x_.view(); }
  DeviceSpan<Vector> y() const { return y_.span(); }
  const CsrMatrix<Stored>& matrix() const { return a_; }

  void set_x(const Array<Vector>& x) { copy_to_device(std::span(x), x_.span(), stream_); }

  // Computes y = A x into a poisoned y.
  Array<Vector> multiply(const Array<Vector>& x) {
    set_x(x);
    fill_nan(y_.span(), stream_);
    kernel_->multiply(x_.view(), y_.span(), Accumulate::no, stream_);
    return to_host(y_.view(), stream_);
  }
  Array<Vector> multiply_add(const Array<Vector>& x, const Array<Vector>& before) {
    set_x(x);
    copy_to_device(std::span(before), y_.span(), stream_);
    kernel_->multiply(x_.view(), y_.span(), Accumulate::yes, stream_);
    return to_host(y_.view(), stream_);
  }
  // Gives the kernel new values in a new array and poisons the old one, which the kernel must not
  // read.
  void update_values(const Array<Stored>& values) {
    a_.values = values;
    const CsrMatrix<Vector> given = with_values_as<Vector>(a_);
    new_values_ = to_device(std::span<const Vector>(given.values), stream_);
    kernel_->update_values(new_values_.view(), stream_);
    fill_nan(on_device_.values.span(), stream_);
  }
  // What a kernel with KernelEntry::cuda_copies_entries does not read: columns far outside the
  // matrix, and NaN.
  void poison_entries() {
    constexpr int kByte = 0x7f;
    memory::fill(on_device_.col_idx.data(), kByte, on_device_.col_idx.size() * sizeof(std::int32_t),
                 stream_);
    fill_nan(on_device_.values.span(), stream_);
    fill_nan(new_values_.span(), stream_);
  }

 private:
  Stream stream_;
  CsrMatrix<Stored> a_;
  DeviceCsrMatrix<Vector> on_device_;
  DeviceBuffer<Vector> new_values_;
  std::unique_ptr<CudaKernel<Vector>> kernel_;
  DeviceBuffer<Vector> x_, y_;
};

// For two vectors x, checks y = A x into a poisoned y, and y += A x.
template <class Stored, class Vector>
testing::AssertionResult matches_reference(DeviceProduct<Stored, Vector>& product) {
  const CsrView<Stored> a = product.matrix().view();
  for (const std::uint64_t seed : {101, 102}) {
    const Array<Vector> x = random_vector<Vector>(a.cols, seed);
    const Array<Vector> y = product.multiply(x);
    if (auto verdict = judge(compare_product<Stored, Vector>(a, x, y), "y = A x"); !verdict)
      return verdict;
    const Array<Vector> before = random_vector<Vector>(a.rows, seed + 7);
    const Array<Vector> sum = product.multiply_add(x, before);
    if (auto verdict = judge(compare_product<Stored, Vector>(a, x, sum, before), "y += A x");
        !verdict)
      return verdict;
  }
  return testing::AssertionSuccess();
}

// Checks that multiply_and_dot() stores the y of multiply() and partial sums of x . A x, with the
// same bits each time.
template <class Stored, class Vector>
void expect_dot(DeviceProduct<Stored, Vector>& product) {
  const auto x = random_vector<Vector>(product.matrix().cols);
  const auto y = product.multiply(x);
  DeviceBuffer<double> partials(product.kernel().dot_partials(), product.stream());
  Array<double> first;
  for (int run = 0; run < 3; ++run) {
    fill_nan(partials.span(), product.stream());
    fill_nan(product.y(), product.stream());
    product.kernel().multiply_and_dot(product.x(), product.y(), partials.span(), product.stream());
    const auto sums = to_host(partials.view(), product.stream());
    if (first.empty()) first = sums;
    EXPECT_TRUE(same_bits(first, sums));
    EXPECT_TRUE(same_bits(y, to_host(DeviceSpan<const Vector>(product.y()), product.stream())));
  }
  long double expected = 0, magnitude = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double term = to_long_double(x[i]) * to_long_double(y[i]);
    expected += term;
    magnitude += std::abs(term);
  }
  long double sum = 0;
  for (const double partial : first) sum += partial;
  // The kernel sums x . y with y before its rounding to Vector, hence the epsilon of Vector.
  const double epsilon = std::is_same_v<Vector, double>  ? 1e-15
                         : std::is_same_v<Vector, float> ? 1e-6
                                                         : 1e-3;
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(expected),
              static_cast<double>(magnitude) * 20 * epsilon + 1e-300);
}

}  // namespace trireme::test
