// SPDX-License-Identifier: BSD-3-Clause
// Tests the order of the rows and the jagged diagonals.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/peers/jds/build.hpp"
#include "support/example_4x4.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

template <class Value>
jds::Layout<Value> layout_of(const CsrMatrix<Value>& a) {
  std::vector<BuildStep> steps;
  return jds::build(a.view(), steps);
}

TEST(JdsLayout, ReproducesTheExample) {
  auto layout = layout_of(test::example_4x4());
  EXPECT_EQ(layout.row_order, (Array<std::int32_t>{2, 0, 1, 3}));
  EXPECT_EQ(layout.jds_ptr, (Array<std::int32_t>{0, 4, 8, 9}));
  EXPECT_EQ(layout.cols, (Array<std::int32_t>{0, 0, 1, 1, 2, 1, 2, 3, 3}));
  EXPECT_EQ(layout.vals, (Array<double>{5, 1, 2, 6, 3, 7, 8, 4, 9}));
  auto updated = test::example_4x4();
  updated.values = {10, 70, 20, 80, 50, 30, 90, 60, 40};
  jds::fill_values(updated.view(), layout);
  EXPECT_EQ(layout.vals, (Array<double>{50, 10, 20, 60, 30, 70, 80, 40, 90}));
}

TEST(JdsLayout, HasNoDiagonalWhereEveryRowIsEmpty) {
  EXPECT_EQ(layout_of(test::contract_shape<double>("AllRowsEmpty")).diagonals(), 0);
  EXPECT_EQ(layout_of(test::contract_shape<double>("Empty0x0")).diagonals(), 0);
}

// The permutation names each row once, from long to short, and rows of equal length in the caller's
// order. Diagonal j has one entry of each row of more than j nonzeros.
TEST(JdsLayout, SortsRowsStablyAndLosesNoEntry) {
  for (const auto& [name, matrix] : test::contract_shapes<double>()) {
    SCOPED_TRACE(name);
    const auto layout = layout_of(matrix);
    ASSERT_EQ(layout.rows(), matrix.rows);
    EXPECT_EQ(layout.nnz(), matrix.nnz());
    const auto length = [&, &a = matrix](std::int64_t i) {
      return a.row_ptr[layout.row_order[i] + 1] - a.row_ptr[layout.row_order[i]];
    };
    for (std::int64_t i = 0; i < layout.rows(); ++i) {
      const std::int64_t row = layout.row_order[i];
      if (i > 0) {
        EXPECT_TRUE(length(i - 1) > length(i) ||
                    (length(i - 1) == length(i) && layout.row_order[i - 1] < row));
      }
      for (std::int32_t j = 0; j < length(i); ++j) {
        const std::int64_t at = layout.jds_ptr[j] + i;
        ASSERT_LT(at, layout.jds_ptr[j + 1]);
        EXPECT_EQ(layout.cols[at], matrix.col_idx[matrix.row_ptr[row] + j]);
        EXPECT_EQ(layout.vals[at], matrix.values[matrix.row_ptr[row] + j]);
      }
    }
  }
}

}  // namespace
}  // namespace trireme
