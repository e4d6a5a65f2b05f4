// SPDX-License-Identifier: BSD-3-Clause
// The DASP host executor: the product by its layout, its promises beside those of every kernel.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/dasp/dasp.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

template <class Value>
class DaspHost : public testing::Test {};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(DaspHost, ValueTypes);

TYPED_TEST(DaspHost, MatchesReferenceOnEveryShape) {
  for (const auto& [name, matrix] : test::contract_shapes<TypeParam>()) {
    SCOPED_TRACE(name);
    const auto kernel = build_dasp_host<TypeParam>(matrix.view());
    EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
  }
}

TYPED_TEST(DaspHost, TakesNewValuesOnTheSamePattern) {
  for (auto& [name, matrix] : test::contract_shapes<TypeParam>()) {
    SCOPED_TRACE(name);
    const auto kernel = build_dasp_host<TypeParam>(matrix.view());
    const auto changed = test::random_vector<TypeParam>(matrix.nnz(), 99);
    auto updated = matrix;
    updated.values = changed;
    kernel->update_values(changed);
    EXPECT_TRUE(test::matches_reference(*kernel, updated.view()));
  }
}

// Padding has column 0: an infinite x[0] may reach only the rows that have that column.
TYPED_TEST(DaspHost, PaddingDoesNotSpreadAnInfiniteEntryOfX) {
  const auto matrix = test::contract_shape<TypeParam>("AllMixed");
  const auto kernel = build_dasp_host<TypeParam>(matrix.view());
  auto x = test::random_vector<TypeParam>(matrix.cols);
  x[0] = std::numeric_limits<TypeParam>::infinity();
  auto y = test::poisoned_vector<TypeParam>(matrix.rows);
  kernel->multiply(x, y, Accumulate::no);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    bool has_column_0 = false;
    for (std::int32_t k = matrix.row_ptr[row]; k < matrix.row_ptr[row + 1]; ++k)
      has_column_0 |= matrix.col_idx[k] == 0;
    EXPECT_EQ(std::isfinite(y[row]), !has_column_0) << row;
  }
}

}  // namespace
}  // namespace trireme
