// SPDX-License-Identifier: BSD-3-Clause
// Checks the product of a CUDA kernel with several vectors against its products with one vector.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "support/device_product.hpp"

namespace trireme::test {

// Y = A X for `width` vectors side by side, without gaps, into a poisoned Y. A row may have 1000
// entries of at most 1.
template <class Stored, class Vector>
void expect_same_as_single_products(DeviceProduct<Stored, Vector>& product, std::int64_t width) {
  const auto& a = product.matrix();
  ASSERT_TRUE(product.kernel().multiplies_vectors());
  const auto x = random_vector<Vector>(a.cols * width, 7);
  const auto x_on_device = to_device(std::span<const Vector>(x), product.stream());
  DeviceBuffer<Vector> y_on_device(a.rows * width, product.stream());
  fill_nan(y_on_device.span(), product.stream());
  product.kernel().multi_multiply({x_on_device.data(), a.cols, width, width, 1},
                                  {y_on_device.data(), a.rows, width, width, 1}, Accumulate::no,
                                  product.stream());
  const Array<Vector> y = to_host(y_on_device.view(), product.stream());
  Array<Vector> vector(a.cols);
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t i = 0; i < a.cols; ++i) vector[i] = x[i * width + j];
    const Array<Vector> single = product.multiply(vector);
    for (std::int64_t i = 0; i < a.rows; ++i)
      ASSERT_NEAR(y[i * width + j], single[i], sizeof(Vector) == 8 ? 1e-11 : 2e-3)
          << "row " << i << ", vector " << j << " of " << width;
  }
}

}  // namespace trireme::test
