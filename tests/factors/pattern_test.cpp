// SPDX-License-Identifier: BSD-3-Clause
// Patterns of factors that are taken from A as they are, beside those that are sorted.
#include "factors/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "factors/gpu_matrices.hpp"
#include "support/with_threads.hpp"

namespace trireme::factors {
namespace {

// Rows that are taken as they are give what rows in any order give.
TEST(FactorPattern, DoesNotDependOnTheOrderOfEntries) {
  for (const std::int64_t n : {5, 20}) {
    const CsrMatrix<double> a = test::generated("poisson3d", n);
    CsrMatrix<double> reversed = a;
    for (std::int64_t i = 0; i < a.rows; ++i)
      std::reverse(reversed.col_idx.begin() + a.row_ptr[i],
                   reversed.col_idx.begin() + a.row_ptr[i + 1]);
    const FactorPattern expected = make_pattern(reversed.view(), {});
    EXPECT_FALSE(expected.has_entries_of_a);
    for (const int threads : {1, 3, 8}) {
      const trireme::test::WithThreads of_scope(threads);
      const FactorPattern pattern = make_pattern(a.view(), {});
      EXPECT_TRUE(pattern.has_entries_of_a);
      EXPECT_EQ(pattern.row_ptr, expected.row_ptr);
      EXPECT_EQ(pattern.col_idx, expected.col_idx);
      EXPECT_EQ(pattern.diagonal, expected.diagonal);
      EXPECT_EQ(pattern.lower.rows, expected.lower.rows);
      EXPECT_EQ(pattern.upper.rows, expected.upper.rows);
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
          ASSERT_EQ(pattern.place[k], k);
          ASSERT_EQ(expected.place[k], a.row_ptr[i] + a.row_ptr[i + 1] - 1 - k);
        }
    }
  }
}

// A diagonal that is missing, a column that comes twice, fill, and another order.
TEST(FactorPattern, HasTheEntriesOfAOnlyWhereTheyServe) {
  const auto has = [](const CsrMatrix<double>& a, const IluChoice& choice) {
    return make_pattern(a.view(), choice).has_entries_of_a;
  };
  // All entries are 1.
  const auto matrix = [](const std::vector<std::vector<std::int64_t>>& columns) {
    return test::from_rows(std::ssize(columns), [&](std::int64_t i) {
      test::Entries row;
      for (const std::int64_t column : columns[i]) row.emplace_back(column, 1.0);
      return row;
    });
  };
  const CsrMatrix<double> cycle = matrix({{0, 1, 2}, {0, 1}, {0, 2}});
  EXPECT_TRUE(has(cycle, {}));
  EXPECT_FALSE(has(cycle, {.levels = 1}));
  EXPECT_FALSE(has(cycle, {.order = RowOrder::rcm}));
  EXPECT_FALSE(has(matrix({{0}, {0}}), {}));
  EXPECT_FALSE(has(matrix({{0, 0}, {1}}), {}));
  EXPECT_TRUE(has(matrix({{0}, {1}}), {.levels = 1})) << "nothing fills";
}

}  // namespace
}  // namespace trireme::factors
