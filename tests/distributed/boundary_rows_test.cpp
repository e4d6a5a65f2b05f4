// SPDX-License-Identifier: BSD-3-Clause
// The rows with entries of a ghost block, in one block of rows and in several.
#include "distributed/boundary_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/shapes.hpp"

namespace trireme {
namespace {

using Numbers = Array<std::int32_t>;

// Entries in the rows 1, 6 and 7 of 12.
CsrMatrix<double> ghost_block(std::int64_t most) {
  auto a = test::matrix_with_row_lengths<double>({0, 3, 0, 0, 0, 0, 2, 4, 0, 0, 0, 0}, 9);
  cut_again(a, most);
  return a;
}

TEST(BoundaryRows, AreThoseWithEntriesInAnyNumberOfBlocks) {
  for (const std::int64_t most : {9, 6, 4}) {
    SCOPED_TRACE(most);
    const BoundaryRows found = boundary_rows(ghost_block(most));
    EXPECT_EQ(found.rows, (Numbers{1, 6, 7}));
    EXPECT_EQ(found.row_ptr, (Numbers{0, 3, 5, 9}));
  }
  EXPECT_EQ(ghost_block(4).cuts.size(), 2u);
}

TEST(BoundaryRows, AreNoneOfAnEmptyBlock) {
  const BoundaryRows found = boundary_rows(CsrMatrix<double>());
  EXPECT_TRUE(found.rows.empty());
  EXPECT_EQ(found.row_ptr, (Numbers{0}));
}

TEST(BoundaryRows, AreAtMostAQuarterOfTheRowsAndAnswerForTheirEntries) {
  for (const std::int64_t most : {9, 4}) {
    SCOPED_TRACE(most);
    CsrMatrix<double> a = ghost_block(most);
    EXPECT_TRUE(is_boundary(a));
    EXPECT_TRUE(is_boundary(a, 9));
    EXPECT_FALSE(is_boundary(a, 8)) << "32 bits do not count the entries";
  }
  auto more = test::matrix_with_row_lengths<double>({0, 3, 0, 0, 0, 0, 2, 4, 0, 0, 0}, 9);
  EXPECT_FALSE(is_boundary(more)) << "3 of 11 rows";
  cut_again(more, 4);
  EXPECT_FALSE(is_boundary(more));
}

}  // namespace
}  // namespace trireme
