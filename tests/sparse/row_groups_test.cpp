// SPDX-License-Identifier: BSD-3-Clause
// Tests the groups of rows with the same columns.
#include "sparse/row_groups.hpp"

#include <gtest/gtest.h>

#include "sparse/generators.hpp"

namespace trireme {
namespace {

using Starts = std::vector<std::int32_t>;

CsrMatrix<double> with_rows(const std::vector<std::vector<std::int32_t>>& rows) {
  CsrMatrix<double> a;
  a.rows = static_cast<std::int64_t>(rows.size());
  a.cols = 10;
  for (const auto& row : rows) {
    a.col_idx.insert(a.col_idx.end(), row.begin(), row.end());
    a.values.resize(a.col_idx.size(), 1.0);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

TEST(RowGroups, ConsecutiveRowsOfOnePatternAreTogether) {
  const CsrMatrix<double> a = with_rows({{0, 1}, {0, 1}, {2}, {2}, {2}, {0, 1}, {}, {}});
  EXPECT_EQ(row_groups(a.view(), {}, 32), (Starts{0, 2, 5, 6, 8}));
  EXPECT_EQ(row_groups(a.view(), {}, 2), (Starts{0, 2, 4, 5, 6, 8}));
}

TEST(RowGroups, GhostColumnsTellRowsApart) {
  const CsrMatrix<double> a = with_rows({{0}, {0}, {0}}), ghost = with_rows({{1}, {1}, {2}});
  EXPECT_EQ(row_groups(a.view(), ghost.view(), 32), (Starts{0, 2, 3}));
}

TEST(RowGroups, NoRowsAreNoGroups) { EXPECT_EQ(row_groups({}, {}, 32), Starts{0}); }

TEST(RowGroups, ElasticityHasThreeUnknownsPerNode) {
  GenerateSpec spec;
  spec.kind = "elasticity3d";
  spec.n = 4;
  const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
  const Starts starts = row_groups(a.view(), {}, 32);
  ASSERT_EQ(static_cast<std::int64_t>(starts.size()), a.rows / 3 + 1);
  for (std::size_t k = 0; k < starts.size(); ++k) EXPECT_EQ(starts[k], 3 * std::int32_t(k));
}

}  // namespace
}  // namespace trireme
