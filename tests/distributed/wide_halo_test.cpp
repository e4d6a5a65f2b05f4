// SPDX-License-Identifier: BSD-3-Clause
// The halo between ranks of 2,000,000,000 rows each, of which only those exist that travel.
#include <gtest/gtest.h>

#include <vector>

#include "distributed/distributed_matrix.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kRowsOfRank = 2'000'000'000;

std::vector<std::int64_t> row_starts() {
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= size_of(MPI_COMM_WORLD); ++r) starts.push_back(r * kRowsOfRank);
  return starts;
}

// Some rows of every other rank, other ones for each rank that asks.
Array<std::int64_t> wanted_rows() {
  const int rank = rank_of(MPI_COMM_WORLD);
  Array<std::int64_t> rows;
  for (int r = 0; r < size_of(MPI_COMM_WORLD); ++r)
    if (r != rank)
      for (const std::int64_t row : {std::int64_t{rank}, kRowsOfRank / 3, kRowsOfRank - 1 - rank})
        rows.push_back(r * kRowsOfRank + row);
  return rows;
}

void expect_own_numbers_travel(const HaloPlan& plan, const Array<std::int64_t>& wanted) {
  Array<double> packed(plan.send_rows.size()), ghosts(plan.ghosts);
  const std::int64_t first = rank_of(MPI_COMM_WORLD) * kRowsOfRank;
  for (std::size_t k = 0; k < packed.size(); ++k)
    packed[k] = static_cast<double>(first + plan.send_rows[k]);
  HaloExchange exchange(MPI_COMM_WORLD, plan, packed, ghosts);
  exchange.begin();
  exchange.end();
  ASSERT_EQ(ghosts.size(), wanted.size());
  for (std::size_t k = 0; k < ghosts.size(); ++k)
    EXPECT_EQ(ghosts[k], static_cast<double>(wanted[k]));
}

TEST(WideHalo, BringsRowsBeyondTwoToTheThirtyOne) {
  const Array<std::int64_t> wanted = wanted_rows();
  expect_own_numbers_travel(
      plan_halo(MPI_COMM_WORLD, row_starts(), std::span<const std::int64_t>(wanted)), wanted);
}

TEST(WideHalo, OfAMatrixWhoseColumnsHave64Bits) {
  const Array<std::int64_t> wanted = wanted_rows();
  const std::int64_t first = rank_of(MPI_COMM_WORLD) * kRowsOfRank;
  const auto rows = row_starts();
  RowSlab slab{.global_rows = rows.back(), .global_cols = rows.back(), .first_row = first};
  slab.local.rows = 2;  // a diagonal entry, and one with all ghosts
  slab.local.row_ptr = {0, 1, static_cast<std::int32_t>(1 + wanted.size())};
  slab.wide_columns = {first};
  slab.wide_columns.insert(slab.wide_columns.end(), wanted.begin(), wanted.end());
  if (!slab.is_wide()) slab.local.col_idx.assign(1, 0);  // one rank
  slab.local.values.assign(slab.wide_columns.size(), 1.0);
  const auto matrix = distribute(MPI_COMM_WORLD, std::move(slab), rows);
  EXPECT_EQ(matrix->global_rows(), rows.back());
  EXPECT_EQ(matrix->blocks.local.col_idx, Array<std::int32_t>{0});
  EXPECT_EQ(matrix->blocks.ghost_columns, wanted);
  expect_own_numbers_travel(matrix->halo, wanted);
}

}  // namespace
}  // namespace trireme
