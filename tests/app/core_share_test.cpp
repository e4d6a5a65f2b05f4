// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share cores get as many threads as there are cores, and at least one each; on 1 and
// 3 ranks.
#include "app/system/core_share.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

TEST(CoreShare, IsThatOfARank) {
  EXPECT_EQ(share_of_cores(8, 8, 1), 8);
  EXPECT_EQ(share_of_cores(2, 2, 3), 1);
  EXPECT_EQ(share_of_cores(32, 32, 2), 16);
  EXPECT_EQ(share_of_cores(64, 32, 4), 16) << "two ranks on each of two sockets";
  EXPECT_EQ(share_of_cores(2, 1, 2), 1) << "each is bound to a core of its own";
  EXPECT_EQ(share_of_cores(32, 4, 2), 4) << "no rank leaves its cores";
  EXPECT_EQ(share_of_cores(0, 0, 2), 1);
}

// NOLINTBEGIN(concurrency-mt-unsafe): one thread works.
TEST(CoreShare, IsGivenUnlessTheEnvironmentSaysOtherwise) {
  const int before = omp_get_max_threads();
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "5", 1), 0);
  omp_set_num_threads(5);
  share_cores(MPI_COMM_WORLD);
  EXPECT_EQ(omp_get_max_threads(), 5);
  ASSERT_EQ(unsetenv("OMP_NUM_THREADS"), 0);
  share_cores(MPI_COMM_WORLD);
  if (size_of(MPI_COMM_WORLD) == 1) {
    EXPECT_EQ(omp_get_max_threads(), 5) << "one rank is left as it is";
  } else {
    EXPECT_GE(omp_get_max_threads(), 1);
    EXPECT_LE(omp_get_max_threads(), omp_get_num_procs());
    EXPECT_LE(sum_over_ranks(MPI_COMM_WORLD, omp_get_max_threads()),
              std::max(omp_get_num_procs(), 1) * size_of(MPI_COMM_WORLD));
  }
  omp_set_num_threads(before);
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace
}  // namespace trireme
