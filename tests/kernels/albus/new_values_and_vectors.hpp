// SPDX-License-Identifier: BSD-3-Clause
// Products of the host kernel `albus` with several vectors and with new values.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

#include "kernels/albus/albus.hpp"
#include "kernels/fp64_sums.hpp"
#include "kernels/multi_product.hpp"
#include "support/host_product.hpp"

namespace trireme::test {

template <class Value>
void expect_products_of_vectors(HostKernel<Value>& kernel, const CsrMatrix<Value>& a,
                                std::int64_t width) {
  MultiProduct<Value> product(kernel, a.rows, a.cols);
  const auto x = random_vector<Value>(a.cols * width, 3);
  auto y = poisoned_vector<Value>(a.rows * width);
  product.multiply(side_by_side(x.data(), a.cols, width), side_by_side(y.data(), a.rows, width),
                   Accumulate::no);
  for (std::int64_t j = 0; j < width; ++j) {
    Array<Value> x_j(a.cols), y_j(a.rows);
    for (std::int64_t i = 0; i < a.cols; ++i) x_j[i] = x[i * width + j];
    for (std::int64_t i = 0; i < a.rows; ++i) y_j[i] = y[i * width + j];
    EXPECT_TRUE(judge(compare_product<Value>(a.view(), x_j, y_j), "Y = A X"));
    if constexpr (std::is_same_v<Value, float>) {
      EXPECT_TRUE(sums_in_fp64(a.view(), x_j, y_j, {}, roundings_of_shares("albus")));
    }
  }
}

template <class Value>
void expect_new_values_and_vectors(const CsrMatrix<Value>& matrix) {
  const auto kernel = build_albus_host<Value>(matrix.view());
  EXPECT_TRUE(matches_reference(*kernel, matrix.view()));
  auto updated = matrix;
  updated.values = random_vector<Value>(matrix.nnz(), 99);
  kernel->update_values(updated.values);
  EXPECT_TRUE(matches_reference(*kernel, updated.view()));
  if constexpr (std::is_same_v<Value, float>) {
    EXPECT_TRUE(sums_in_fp64(*kernel, updated.view(), roundings_of_shares("albus")));
  }
  expect_products_of_vectors(*kernel, updated, 5);
}

}  // namespace trireme::test
