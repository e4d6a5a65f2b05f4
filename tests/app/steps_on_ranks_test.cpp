// SPDX-License-Identifier: BSD-3-Clause
// What a sequence on several ranks may do while another thread reads the next step; run on 2 ranks.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "app/heat_sequence.hpp"
#include "app/solves/steps.hpp"
#include "distributed/distributed_matrix.hpp"
#include "support/cg_unless_named.hpp"

namespace trireme {
namespace {

using namespace test;

class WorkAheadOnRanks : public Sequence {};

// HDF5 is not safe for two threads.
TEST_F(WorkAheadOnRanks, ASolutionIsWrittenWhenTheOtherThreadHasRead) {
  write();
  const Case c = test::parse_with_cg(
      fmt::format("problem: {{file: {}, rhs: /b, steps: {}}}\n", file_.path().string(), kAllSteps),
      "test.yaml");
  Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
  std::vector<std::int64_t> starts = problem.row_starts;
  const std::shared_ptr<DistributedMatrix> matrix =
      distribute(MPI_COMM_WORLD, std::move(problem.matrix), std::move(starts));
  Steps steps(MPI_COMM_WORLD, c.problem, problem, matrix);
  steps.begin();
  steps.write_to(folder() / "x.h5");
  const Values x(matrix->local_rows(), 1.0);
  steps.write(x, true);  // creates the file
  std::atomic<bool> has_worked = false;
  steps.work_ahead({.first =
                        [&] {
                          std::this_thread::sleep_for(std::chrono::milliseconds(300));
                          has_worked = true;
                        },
                    .with_next = {}});
  EXPECT_FALSE(has_worked);
  steps.write(x, true);
  EXPECT_TRUE(has_worked);
}

}  // namespace
}  // namespace trireme
