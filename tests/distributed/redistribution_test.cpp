// SPDX-License-Identifier: BSD-3-Clause
// Rows that move to other ranks and back; run on 1, 2, 3 and 5 ranks.
#include "distributed/redistribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/split_mix.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/local_order.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "distributed/row_graph.hpp"
#include "sparse/generators.hpp"
#include "sparse/reference.hpp"

namespace trireme {
namespace {

using namespace test;

// Without structural symmetry, with empty rows and a row with all columns.
CsrMatrix<double> unsymmetric(std::int64_t rows) {
  CsrMatrix<double> a;
  a.rows = a.cols = rows;
  std::uint64_t counter = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < rows; ++column)
      if (row % 7 != 3 && (row == 5 || split_mix(counter++, 42) % 11 == 0)) {
        a.col_idx.push_back(static_cast<std::int32_t>(column));
        a.values.push_back(to_unit(split_mix(counter++, 42)) - 0.5);
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

struct Cuts {
  std::vector<std::int64_t> starts;
  std::int64_t first, last;
};
Cuts cuts_of(const CsrMatrix<double>& a, Cut cut, std::int64_t together = 1) {
  Cuts cuts{row_starts(a, size_of(MPI_COMM_WORLD), cut), 0, 0};
  for (std::size_t r = 1; r + 1 < cuts.starts.size(); ++r)
    cuts.starts[r] = cuts.starts[r] / together * together;
  cuts.first = cuts.starts[rank_of(MPI_COMM_WORLD)];
  cuts.last = cuts.starts[rank_of(MPI_COMM_WORLD) + 1];
  return cuts;
}

// An owner for each vertex of this rank, without any sense in it. The last rank gets nothing where
// there are three ranks.
std::vector<std::int32_t> scattered(const Cuts& cuts, std::int64_t together = 1) {
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<std::int32_t> owners;
  for (std::int64_t row = cuts.first; row < cuts.last; row += together)
    owners.push_back(static_cast<std::int32_t>(split_mix(static_cast<std::uint64_t>(row), 7) %
                                               static_cast<std::uint64_t>(ranks == 3 ? 2 : ranks)));
  return owners;
}

class EveryCut : public testing::TestWithParam<Cut> {};

TEST_P(EveryCut, TheProductOfTheMovedMatrixIsThatOfTheMatrix) {
  const CsrMatrix<double> a = unsymmetric(83);
  const Cuts cuts = cuts_of(a, GetParam());
  Redistribution moved = redistribution_of(MPI_COMM_WORLD, cuts.starts, 1, scattered(cuts));
  RowSlab slab = moved.matrix(slab_of(a, cuts.first, cuts.last));
  ASSERT_EQ(slab.local.rows, moved.rows());
  for (std::int64_t row = 0; row < slab.local.rows; ++row)
    for (std::int32_t k = slab.local.row_ptr[row] + 1; k < slab.local.row_ptr[row + 1]; ++k)
      ASSERT_LT(slab.local.col_idx[k - 1], slab.local.col_idx[k]);

  Array<double> x(a.rows), expected(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) x[i] = to_unit(split_mix(i, 3));
  for (std::int64_t row = 0; row < a.rows; ++row) {
    expected[row] = 0;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      expected[row] += a.values[k] * x[a.col_idx[k]];
  }
  HostOperator op(distribute(MPI_COMM_WORLD, std::move(slab), moved.to()), "csr");
  const Array<double> there =
      moved.there(std::span<const double>(x).subspan(cuts.first, cuts.last - cuts.first));
  Array<double> y(moved.rows());
  op.multiply(there, y);
  const Array<double> back = moved.back(y);
  ASSERT_EQ(std::ssize(back), cuts.last - cuts.first);
  for (std::size_t i = 0; i < back.size(); ++i)
    EXPECT_NEAR(back[i], expected[cuts.first + i], 1e-13) << i;
}

TEST_P(EveryCut, NewValuesComeToTheirEntries) {
  CsrMatrix<double> a = unsymmetric(61);
  const Cuts cuts = cuts_of(a, GetParam());
  Redistribution moved = redistribution_of(MPI_COMM_WORLD, cuts.starts, 1, scattered(cuts));
  static_cast<void>(moved.matrix(slab_of(a, cuts.first, cuts.last), true));
  EXPECT_EQ(moved.entries_before(), a.row_ptr[cuts.last] - a.row_ptr[cuts.first]);
  for (double& value : a.values) value = 1 + value * value;
  const RowSlab slab = slab_of(a, cuts.first, cuts.last);
  const Array<double> values = moved.new_values(slab.local.values);
  RowSlab copy = slab;
  EXPECT_EQ(moved.matrix(std::move(copy)).local.values, values);
}

TEST_P(EveryCut, VectorsSideBySideComeBackAsTheyWere) {
  const CsrMatrix<double> a = unsymmetric(47);
  const Cuts cuts = cuts_of(a, GetParam());
  const Redistribution moved = redistribution_of(MPI_COMM_WORLD, cuts.starts, 1, scattered(cuts));
  Array<double> vectors(3 * (cuts.last - cuts.first));
  for (std::size_t i = 0; i < vectors.size(); ++i)
    vectors[i] = static_cast<double>(3 * cuts.first) + static_cast<double>(i);
  const Array<double> there = moved.there(vectors, 3);
  EXPECT_EQ(std::ssize(there), 3 * moved.rows());
  for (std::size_t i = 0; i < there.size(); i += 3) {
    EXPECT_EQ(there[i + 1], there[i] + 1);
    EXPECT_EQ(there[i + 2], there[i] + 2);
    EXPECT_EQ(std::fmod(there[i], 3), 0);
  }
  EXPECT_EQ(moved.back(there, 3), vectors);
}

TEST_P(EveryCut, RowsOfANodeStayTogetherAndEveryRankBeginsWithAWholeNode) {
  const CsrMatrix<double> a = unsymmetric(50);  // 16 nodes of 3 rows, and 2 rows
  const Cuts cuts = cuts_of(a, GetParam(), 3);
  const Redistribution moved =
      redistribution_of(MPI_COMM_WORLD, cuts.starts, 3, scattered(cuts, 3));
  for (int r = 0; r < size_of(MPI_COMM_WORLD); ++r)
    EXPECT_TRUE(moved.to()[r] == a.rows || moved.to()[r] % 3 == 0) << r;
  for (std::int64_t row = cuts.first; row < cuts.last; ++row)
    if (row % 3 != 0) {
      EXPECT_EQ(moved.new_rows()[row - cuts.first], moved.new_rows()[row - cuts.first - 1] + 1);
    }
}

TEST_P(EveryCut, AnotherOrderWithinTheRanksMovesNoRowToAnotherRank) {
  const CsrMatrix<double> a = unsymmetric(47);
  const Cuts cuts = cuts_of(a, GetParam());
  const Redistribution moved = redistribution_of(MPI_COMM_WORLD, cuts.starts, 1, scattered(cuts));
  std::vector<std::int32_t> reversed;
  for (auto row = static_cast<std::int32_t>(moved.rows()); row-- > 0;) reversed.push_back(row);
  const Redistribution other = moved.reordered(reversed);
  Array<double> numbers(cuts.last - cuts.first);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const Array<double> one = moved.there(numbers);
  Array<double> two = other.there(numbers);
  std::reverse(two.begin(), two.end());
  EXPECT_EQ(one, two);
}

TEST_P(EveryCut, TheGraphHasEachEdgeInBothDirectionsOnce) {
  const CsrMatrix<double> a = unsymmetric(50);
  for (const std::int64_t together : {1, 3}) {
    const Cuts cuts = cuts_of(a, GetParam(), together);
    std::set<std::pair<std::int64_t, std::int64_t>> expected;
    for (std::int64_t row = 0; row < a.rows; ++row)
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
        if (const std::int64_t i = row / together, j = a.col_idx[k] / together; i != j) {
          expected.emplace(i, j);
          expected.emplace(j, i);
        }
    const RowGraph graph =
        row_graph(MPI_COMM_WORLD, slab_of(a, cuts.first, cuts.last), cuts.starts, together);
    const std::int64_t first = graph.vertex_starts[rank_of(MPI_COMM_WORLD)];
    std::erase_if(expected, [&](const auto& edge) {
      return edge.first < first || edge.first >= first + graph.vertices();
    });
    std::vector<std::pair<std::int64_t, std::int64_t>> edges;
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
      for (std::int32_t k = graph.offsets[v]; k < graph.offsets[v + 1]; ++k)
        edges.emplace_back(first + v, graph.neighbours[k]);
    EXPECT_TRUE(std::ranges::equal(edges, expected));
    std::int64_t weight = 0;
    for (const std::int32_t w : graph.weights) weight += w;
    EXPECT_GE(weight, a.row_ptr[cuts.last] - a.row_ptr[cuts.first]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryCut,
                         testing::Values(Cut::by_nonzeros, Cut::all_on_last_rank,
                                         Cut::first_rank_empty));

TEST_P(EveryCut, RowsOfANodeStayTogetherInAnotherOrder) {
  for (const std::int64_t rows : {51, 50}) {
    const CsrMatrix<double> a = unsymmetric(rows);
    const Cuts cuts = cuts_of(a, GetParam(), 3);
    const Redistribution moved =
        redistribution_of(MPI_COMM_WORLD, cuts.starts, 3, scattered(cuts, 3));
    const CsrMatrix<double> local = moved.local_pattern(slab_of(a, cuts.first, cuts.last));
    ASSERT_EQ(local.rows, moved.rows());
    const Redistribution other = moved.reordered(order_of_nodes(local.view(), 3));
    EXPECT_EQ(other.to(), moved.to());
    for (std::int64_t row = cuts.first; row < cuts.last; ++row) {
      const std::int32_t number = other.new_rows()[row - cuts.first];
      EXPECT_EQ(number % 3, row % 3);
      if (row % 3 != 0) {
        EXPECT_EQ(number, other.new_rows()[row - cuts.first - 1] + 1);
      }
    }
  }
}

TEST_P(EveryCut, TheLocalPatternIsThatOfTheMovedMatrix) {
  const CsrMatrix<double> a = unsymmetric(53);
  const Cuts cuts = cuts_of(a, GetParam());
  Redistribution moved = redistribution_of(MPI_COMM_WORLD, cuts.starts, 1, scattered(cuts));
  CsrMatrix<double> local = moved.local_pattern(slab_of(a, cuts.first, cuts.last));
  for (std::int64_t row = 0; row < local.rows; ++row)
    std::sort(local.col_idx.begin() + local.row_ptr[row],
              local.col_idx.begin() + local.row_ptr[row + 1]);
  const auto matrix =
      distribute(MPI_COMM_WORLD, moved.matrix(slab_of(a, cuts.first, cuts.last)), moved.to());
  EXPECT_EQ(local.row_ptr, matrix->blocks.local.row_ptr);
  EXPECT_EQ(local.col_idx, matrix->blocks.local.col_idx);
}

TEST(LocalOrder, ARandomOrderLacksLocalityAndAGridDoesNot) {
  const auto slab = [](const char* kind) { return generate({.kind = kind, .n = 30}, 0, 900); };
  EXPECT_TRUE(lacks_locality(MPI_COMM_WORLD, slab("mesh2d").local.view()));
  EXPECT_FALSE(lacks_locality(MPI_COMM_WORLD, slab("poisson2d").local.view()));
}

TEST(Redistribution, EveryRankThrowsWhereANewNumberOccursTwice) {
  const CsrMatrix<double> a = unsymmetric(20);
  const Cuts cuts = cuts_of(a, Cut::by_nonzeros);
  Array<std::int32_t> new_rows(cuts.last - cuts.first);
  for (std::size_t i = 0; i < new_rows.size(); ++i)
    new_rows[i] = static_cast<std::int32_t>(cuts.first + static_cast<std::int64_t>(i));
  if (cuts.first == 0 && new_rows.size() > 1) new_rows[0] = 1;
  EXPECT_THROW(Redistribution(MPI_COMM_WORLD, cuts.starts, cuts.starts, new_rows), AgreedError);
}

}  // namespace
}  // namespace trireme
