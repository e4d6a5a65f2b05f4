// SPDX-License-Identifier: BSD-3-Clause
// Tests the entries with their coordinates, and the rows that segments cut.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/peers/coo/coo.hpp"
#include "kernels/peers/coordinates.hpp"
#include "support/example_4x4.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kSegment = Coordinates<double>::kSegment;

TEST(CooLayout, ReproducesTheExample) {
  const auto entries = entries_after(test::example_4x4().view(), 0);
  EXPECT_EQ(entries.rows, (Array<std::int32_t>{0, 0, 1, 1, 2, 2, 2, 3, 3}));
  EXPECT_EQ(entries.cols, (Array<std::int32_t>{0, 1, 1, 2, 0, 2, 3, 1, 3}));
  EXPECT_EQ(entries.vals, (Array<double>{1, 7, 2, 8, 5, 3, 9, 6, 4}));
  EXPECT_EQ(entries.bytes(), 9 * 16);
}

TEST(CooLayout, TakesOnlyWhatFollowsTheSkippedEntriesOfARow) {
  auto entries = entries_after(test::example_4x4().view(), 1);
  EXPECT_EQ(entries.rows, (Array<std::int32_t>{0, 1, 2, 2, 3}));
  EXPECT_EQ(entries.cols, (Array<std::int32_t>{1, 2, 2, 3, 3}));
  EXPECT_EQ(entries.vals, (Array<double>{7, 8, 3, 9, 4}));
  auto updated = test::example_4x4();
  updated.values = {10, 70, 20, 80, 50, 30, 90, 60, 40};
  fill_values(updated.view(), 1, entries);
  EXPECT_EQ(entries.vals, (Array<double>{70, 80, 30, 90, 40}));
}

// Rows that end where a segment ends, that are cut, and that span several segments.
TEST(CooHost, MatchesReferenceWhereverSegmentsCutRows) {
  for (const std::int64_t first : {kSegment - 1, kSegment, kSegment + 1, 3 * kSegment})
    for (const std::int64_t second : {std::int64_t{1}, kSegment - 1, kSegment, 5 * kSegment + 7}) {
      SCOPED_TRACE(std::to_string(first) + ", " + std::to_string(second));
      const auto a = test::matrix_with_row_lengths<double>({first, 0, second, 2}, 6 * kSegment);
      EXPECT_TRUE(test::matches_reference(*build_coo_host<double>(a.view()), a.view()));
    }
}

}  // namespace
}  // namespace trireme
