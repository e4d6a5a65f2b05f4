// SPDX-License-Identifier: BSD-3-Clause
// Tests that the LSRB-CSR layout is that of the drawing, entry by entry, and keeps its promises on
// every shape.
#include "kernels/peers/lsrb_csr/layout.hpp"

#include <gtest/gtest.h>

#include "kernels/peers/lsrb_csr/build.hpp"
#include "support/paper_matrix.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

TEST(LsrbCsrLayout, ReproducesItsDrawing) {
  const CsrMatrix<double> a = paper_matrix();
  const auto lsrb = lsrb_csr::build(a.view(), {.segment_nonzeros = 5, .block_segments = 2}).layout;
  EXPECT_EQ(lsrb.segments, 4);
  EXPECT_EQ(lsrb.row_blocks, 2);
  EXPECT_EQ(lsrb.row_starts, (Array<std::uint16_t>{0b11001, 0b11010, 0b00110, 0b0}));
  EXPECT_EQ(lsrb.first_row, (Array<std::int32_t>{0, 2, 5, 7}));
  EXPECT_FALSE(lsrb.begins_within_row(0));
  EXPECT_TRUE(lsrb.begins_within_row(1));
  EXPECT_TRUE(lsrb.row_of.empty());
  EXPECT_TRUE(lsrb.empty_rows.empty());
}

TEST(LsrbCsrLayout, CountsRowsWithNonzerosWhereSomeAreEmpty) {
  const CsrMatrix<double> a{5, 3, {0, 0, 2, 2, 2, 3}, {0, 2, 1}, {1, 2, 3}};
  const auto lsrb = lsrb_csr::build(a.view(), {.segment_nonzeros = 2, .block_segments = 1}).layout;
  EXPECT_EQ(lsrb.row_starts, (Array<std::uint16_t>{0b1, 0b1}));
  EXPECT_EQ(lsrb.first_row, (Array<std::int32_t>{0, 1}));
  EXPECT_EQ(lsrb.row_of, (Array<std::int32_t>{1, 4}));
  EXPECT_EQ(lsrb.empty_rows, (Array<std::int32_t>{0, 2, 3}));
}

// Walks the segments, and compares the row of each nonzero with the CSR.
void expect_sound(const lsrb_csr::Layout<double>& lsrb, const CsrMatrix<double>& a) {
  Array<std::int32_t> row_of_nonzero(a.nnz());
  for (std::int32_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) row_of_nonzero[k] = row;
  ASSERT_EQ(lsrb.begin_of(lsrb.segments), a.nnz());
  ASSERT_EQ(lsrb.first_segment(lsrb.row_blocks), lsrb.segments);
  for (std::int64_t segment = 0; segment < lsrb.segments; ++segment) {
    std::int32_t row = lsrb.first_row[segment];
    const std::int64_t length = lsrb.begin_of(segment + 1) - lsrb.begin_of(segment);
    ASSERT_GT(length, 0);
    ASSERT_EQ(lsrb.row_starts[segment] >> length, 0);
    for (std::int64_t k = lsrb.begin_of(segment); k < lsrb.begin_of(segment + 1); ++k) {
      const bool starts = (lsrb.row_starts[segment] >> (k - lsrb.begin_of(segment)) & 1) != 0;
      if (starts && k > lsrb.begin_of(segment)) ++row;
      ASSERT_EQ(lsrb.matrix_row(row), row_of_nonzero[k]);
      ASSERT_EQ(starts, k == 0 || row_of_nonzero[k] != row_of_nonzero[k - 1]);
    }
  }
  for (const std::int32_t row : lsrb.empty_rows) ASSERT_EQ(a.row_ptr[row], a.row_ptr[row + 1]);
  if (!lsrb.empty_rows.empty()) {
    ASSERT_EQ(std::ssize(lsrb.row_of) + std::ssize(lsrb.empty_rows), a.rows);
  }
}

TEST(LsrbCsrLayout, IsSoundOnEveryShape) {
  for (const auto& [name, matrix] : contract_shapes<double>()) {
    SCOPED_TRACE(name);
    for (const lsrb_csr::Cut& cut : {lsrb_csr::Cut{}, {1, 1}, {3, 2}, {16, 1}})
      expect_sound(lsrb_csr::build(matrix.view(), cut).layout, matrix);
  }
}

}  // namespace
}  // namespace trireme::test
