// SPDX-License-Identifier: BSD-3-Clause
// The parts of a halo plan on real ranks: one travels between the ranks of a group, by their
// communicator, and the other one between all ranks. Together they bring what the whole plan
// brings.
#include <gtest/gtest.h>

#include <vector>

#include "distributed/matrix_on_ranks.hpp"
#include "distributed/split_halo.hpp"
#include "parallel/communicator.hpp"
#include "solvers/systems.hpp"

namespace trireme {
namespace {

// The ghosts that `plan` brings between the ranks of `comm`, where each row has its global number.
Array<double> ghosts_of(MPI_Comm comm, const HaloPlan& plan, std::int64_t first_row) {
  Array<double> packed, ghosts(plan.ghosts, -1.0);
  for (const std::int32_t row : plan.send_rows)
    packed.push_back(static_cast<double>(first_row + row));
  HaloExchange exchange(comm, plan, packed, ghosts);
  exchange.begin();
  exchange.end();
  return ghosts;
}

void expect_the_whole(const DistributedMatrix& matrix, const std::vector<int>& groups) {
  const int rank = rank_of(MPI_COMM_WORLD);
  const std::int64_t first = matrix.first_row();
  const SplitHalo parts = split_halo(matrix.halo, groups, rank);
  const Communicator group(MPI_COMM_WORLD, groups[rank]);
  const Array<double> far = ghosts_of(MPI_COMM_WORLD, parts.far, first);
  const Array<double> near = ghosts_of(group, parts.near, first);
  Array<double> ghosts;
  for (const std::int32_t source : parts.sources)
    ghosts.push_back(source < 0 ? near.at(~source) : far.at(source));
  EXPECT_EQ(ghosts, ghosts_of(MPI_COMM_WORLD, matrix.halo, first));
}

TEST(SplitHaloOnRanks, BringsTheGhostsOfTheWhole) {
  const int ranks = size_of(MPI_COMM_WORLD);
  for (const test::Cut cut :
       {test::Cut::by_nonzeros, test::Cut::all_on_last_rank, test::Cut::first_rank_empty})
    for (const CsrMatrix<double>& a : {test::grid_matrix(4), test::grid_matrix(20)}) {
      const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, cut);
      std::vector<int> pairs, turns, descending;
      for (int rank = 0; rank < ranks; ++rank) {
        pairs.push_back(rank / 2);
        turns.push_back(rank % 2);
        descending.push_back((ranks - rank) / 3);
      }
      for (const auto& groups : {pairs, turns, descending}) expect_the_whole(*matrix, groups);
    }
}

}  // namespace
}  // namespace trireme
