// SPDX-License-Identifier: BSD-3-Clause
// An error that every rank has is an error like others.
#include "parallel/joint_failure.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

TEST(JointFailure, ReturnsWhenEveryRankHasFailedHoweverLate) {
  JointFailure failure(MPI_COMM_WORLD);
  const Error error(ExitCode::resource, "no memory");
  for (int round = 0; round < 2; ++round) {
    if (rank_of(MPI_COMM_WORLD) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    failure.confirm(error);
  }
  SUCCEED();
}

}  // namespace
}  // namespace trireme
