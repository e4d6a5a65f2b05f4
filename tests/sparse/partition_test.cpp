// SPDX-License-Identifier: BSD-3-Clause
// Tests that the split by nonzeros covers the rows without gaps, as evenly as whole rows allow.
#include "sparse/partition.hpp"

#include <gtest/gtest.h>

#include "support/shapes.hpp"

namespace trireme::test {
namespace {

std::vector<std::int64_t> split(const Array<std::int32_t>& row_ptr, int parts) {
  return split_by_nonzeros(std::span<const std::int32_t>(row_ptr), parts);
}

TEST(SplitByNonzeros, CoversTheRowsInOrder) {
  for (const auto& shape : contract_shapes<double>())
    for (const int parts : {1, 2, 3, 8, 64}) {
      const auto starts = split(shape.matrix.row_ptr, parts);
      ASSERT_EQ(std::ssize(starts), parts + 1);
      EXPECT_EQ(starts.front(), 0);
      EXPECT_EQ(starts.back(), shape.matrix.rows) << shape.name;
      EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end())) << shape.name;
    }
}

TEST(SplitByNonzeros, NoPartExceedsItsShareByMoreThanARow) {
  for (const auto& shape : contract_shapes<double>()) {
    const CsrMatrix<double>& a = shape.matrix;
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < a.rows; ++row)
      longest = std::max<std::int64_t>(longest, a.row_ptr[row + 1] - a.row_ptr[row]);
    for (const int parts : {2, 5, 16}) {
      const auto starts = split(a.row_ptr, parts);
      for (int part = 0; part < parts; ++part) {
        const std::int64_t work =
            a.row_ptr[starts[part + 1]] - a.row_ptr[starts[part]] + starts[part + 1] - starts[part];
        EXPECT_LE(work, (a.nnz() + a.rows) / parts + longest + 2) << shape.name << " " << parts;
      }
    }
  }
}

TEST(SplitByNonzeros, SharesOutEqualRowsEvenly) {
  Array<std::int32_t> row_ptr(101);
  for (int row = 0; row <= 100; ++row) row_ptr[row] = 7 * row;
  EXPECT_EQ(split(row_ptr, 4), (std::vector<std::int64_t>{0, 25, 50, 75, 100}));
}

TEST(SplitByNonzeros, PutsABoundaryAtTheNearestRow) {
  EXPECT_EQ(split({0, 1, 2, 3, 4, 24}, 2), (std::vector<std::int64_t>{0, 4, 5}));
}

TEST(SplitByNonzeros, SharesOutEmptyRowsToo) {
  EXPECT_EQ(split(Array<std::int32_t>(101, 0), 4), (std::vector<std::int64_t>{0, 25, 50, 75, 100}));
  EXPECT_EQ(split({0}, 3), (std::vector<std::int64_t>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace trireme::test
