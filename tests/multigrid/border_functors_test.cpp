// SPDX-License-Identifier: BSD-3-Clause
// The functors by which GPUs join and cut rows at the borders of ranks, run on the host.
#include "multigrid/ranks/border_functors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "multigrid/on_ranks.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/node_graph_functors.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;

TEST(BorderFunctors, JoinBlocksToExtendedRows) {
  for (const auto& [kind, n, block] : {std::tuple("poisson3d", 7, 1), std::tuple("mesh2d", 20, 1),
                                       std::tuple("elasticity3d", 4, 3)}) {
    SCOPED_TRACE(kind);
    const auto a = generated(MPI_COMM_WORLD, kind, n, block);
    const ExtendedRows extended(MPI_COMM_WORLD, *a, block);
    const CsrView<double> expected = extended.view().local;
    const SplitRows& split = a->blocks;
    if (extended.ghost_nodes().empty()) continue;
    const std::int64_t rows = split.local.rows;
    Array<std::int32_t> place;
    for (const std::int64_t column : split.ghost_columns) {
      const auto& nodes = extended.ghost_nodes();
      const auto node = std::ranges::lower_bound(nodes, static_cast<std::int32_t>(column / block));
      place.push_back(
          static_cast<std::int32_t>(rows + (node - nodes.begin()) * block + column % block));
    }
    Array<std::int32_t> row_ptr(static_cast<std::size_t>(rows) + 1, 0);
    Array<std::int32_t> col_idx(static_cast<std::size_t>(split.nnz()), -1);
    Array<double> values(col_idx.size(), NAN);
    const JoinRow join{MatrixPointers(split.local),
                       MatrixPointers(split.ghost),
                       place.data(),
                       row_ptr.data(),
                       col_idx.data(),
                       values.data()};
    for (std::int64_t i = 0; i < rows; ++i) join(i);
    EXPECT_TRUE(std::ranges::equal(row_ptr, expected.row_ptr));
    EXPECT_TRUE(std::ranges::equal(col_idx, expected.col_idx));
    EXPECT_TRUE(std::ranges::equal(values, expected.values));
  }
}

TEST(BorderFunctors, NumberAsLocalNumbersDo) {
  const Array<std::int32_t> others{2, 7, 40, 41, 99};
  const std::int32_t first = 10, own = 20;
  const LocalNumbers local(first, own, others);
  Array<std::int32_t> numbers{-1, 10, 29, 2, 99, 41, 7, 15, 40};
  const Array<std::int32_t> global = numbers;
  const MakeLocal make_local{first, own, others.data(), 5, numbers.data()};
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    make_local(static_cast<std::int64_t>(k));
    EXPECT_EQ(numbers[k], local(global[k])) << global[k];
  }
  const MakeGlobal make_global{first, own, others.data(), numbers.data()};
  for (std::size_t k = 1; k < numbers.size(); ++k) {
    make_global(static_cast<std::int64_t>(k));
    EXPECT_EQ(numbers[k], global[k]);
  }
}

// Own columns 10 to 29 come first, then others; by global numbers they ascend.
TEST(BorderFunctors, GiveRowsGlobalColumnsThatAscend) {
  const Array<std::int32_t> others{2, 7, 40, 41};
  const std::int32_t first = 10, own = 20;
  const CsrMatrix<double> m{.rows = 4,
                            .cols = own + 4,
                            .row_ptr = {0, 4, 4, 6, 8},
                            .col_idx = {0, 19, 20, 23, 5, 6, 21, 22},
                            .values = {1, 2, 3, 4, 5, 6, 7, 8}};
  Array<std::int32_t> columns(8, -1);
  Array<double> values(8, NAN);
  const MakeRowGlobal make{MatrixPointers(m), first,          own,
                           others.data(),     columns.data(), values.data()};
  for (std::int64_t i = 0; i < m.rows; ++i) make(i);
  EXPECT_TRUE(std::ranges::equal(columns, std::vector{2, 10, 29, 41, 15, 16, 7, 40}));
  EXPECT_TRUE(std::ranges::equal(values, std::vector<double>{3, 1, 2, 4, 5, 6, 7, 8}));
}

// Entries in columns below a limit and rows that are copied whole are those of the matrix.
TEST(BorderFunctors, CutAndCopyRows) {
  const CsrMatrix<double> m{.rows = 4,
                            .cols = 6,
                            .row_ptr = {0, 3, 3, 5, 6},
                            .col_idx = {0, 4, 5, 1, 2, 5},
                            .values = {1, 2, 3, 4, 5, 6}};
  const std::vector<std::vector<double>> below{{1}, {}, {4, 5}, {}};
  for (std::int32_t i = 0; i < 4; ++i) {
    const auto& expected = below[static_cast<std::size_t>(i)];
    EXPECT_EQ(CountBelow({m.row_ptr.data(), m.col_idx.data(), 4})(i), std::ssize(expected));
    Array<std::int32_t> columns(3, -1), to_ptr(4, 0);
    Array<double> values(3, NAN);
    CopyBelow{MatrixPointers(m), 4, to_ptr.data(), columns.data(), values.data()}(i);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), values.begin()));
    EXPECT_TRUE(std::isnan(values[expected.size()])) << "an entry too many";
  }
  const Array<std::int32_t> wanted{3, 0};
  EXPECT_EQ((LengthOfRow{m.row_ptr.data(), wanted.data()})(1), 3);
  const Array<std::int32_t> to_ptr{0, 1, 4};
  Array<std::int32_t> columns(4, -1);
  Array<double> values(4, NAN);
  for (int k = 0; k < 2; ++k)
    CopyRowTo{MatrixPointers(m), wanted.data(), to_ptr.data(), columns.data(), values.data()}(k);
  EXPECT_EQ(columns, (Array<std::int32_t>{5, 0, 4, 5}));
  EXPECT_EQ(values, (Array<double>{6, 1, 2, 3}));
}

TEST(BorderFunctors, SelectTheTermsOfEachRow) {
  const Array<std::int32_t> first{0, 2, 2, 3}, member{0, 2, 1};
  Array<std::int32_t> row_ptr(4, 0), col_idx(6, -1);
  Array<double> values(6, NAN);
  for (int i = 0; i < 3; ++i)
    SelectRow{first.data(), member.data(), 3, row_ptr.data(), col_idx.data(), values.data()}(i);
  EXPECT_EQ(row_ptr, (Array<std::int32_t>{0, 3, 4, 6}));
  EXPECT_EQ(col_idx, (Array<std::int32_t>{0, 3, 5, 1, 2, 4}));
  EXPECT_EQ(values, Array<double>(6, 1.0));
}

// Node 0 has an edge to node 1 and to ghost 3, which becomes node 4; node 1 one to node 2; another
// rank has one to node 2 from a node that is 3 now.
TEST(BorderFunctors, GatherEdgesAndThoseOfOtherRanks) {
  const Array<std::int32_t> row_ptr{0, 2, 3, 3}, neighbour{1, 3, 2}, place{4};
  const Array<std::int32_t> back_ptr{0, 0, 1, 2}, back{0, 1}, first{0, 0, 0, 1}, others{3};
  const CsrMatrix<double> made =
      make_rows<1>(3, 5, ColumnOrder::ascending,
                   GatherEdges{row_ptr.data(), neighbour.data(), 3, place.data(), back_ptr.data(),
                               back.data(), first.data(), others.data()});
  EXPECT_EQ(made.row_ptr, (Array<std::int32_t>{0, 2, 4, 6}));
  EXPECT_EQ(made.col_idx, (Array<std::int32_t>{1, 4, 0, 2, 1, 3}));
}

}  // namespace
}  // namespace trireme::multigrid
