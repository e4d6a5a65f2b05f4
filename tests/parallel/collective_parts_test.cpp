// SPDX-License-Identifier: BSD-3-Clause
// An error that the ranks of a part agree upon reaches the ranks of all other parts.
#include "parallel/collective_parts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "parallel/communicator.hpp"

namespace trireme {
namespace {

const MPI_Comm kWorld = MPI_COMM_WORLD;

// Pairs of ranks. In pair `failing`, its last rank fails.
void run_in_pairs(int failing, bool& ran) {
  const int rank = rank_of(kWorld);
  const Communicator pair(kWorld, rank / 2);
  collectively_in_parts(kWorld, [&] {
    collectively(pair, [&] {
      ran = true;
      if (rank / 2 == failing && rank_of(pair) + 1 == size_of(pair))
        fail(ExitCode::resource, "pair {} has no memory", failing);
    });
  });
}

TEST(CollectiveParts, AnErrorOfOnePartIsThatOfAllRanks) {
  for (int failing = 0; failing < (size_of(kWorld) + 1) / 2; ++failing) {
    bool ran = false;
    try {
      run_in_pairs(failing, ran);
      ADD_FAILURE() << "no error";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.ranks(), size_of(kWorld)) << "run_together() would not let it pass";
      EXPECT_EQ(error.code(), ExitCode::resource);
      EXPECT_EQ(error.what(), "pair " + std::to_string(failing) + " has no memory");
    }
    EXPECT_TRUE(ran);
  }
}

TEST(CollectiveParts, NothingIsThrownWhereNoPartFails) {
  bool ran = false;
  run_in_pairs(-1, ran);
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace trireme
