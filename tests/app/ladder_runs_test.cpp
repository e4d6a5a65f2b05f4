// SPDX-License-Identifier: BSD-3-Clause
// Runs by `method: auto` that need a second rung, and what later runs take over from them.
#include <gtest/gtest.h>

#include <string>

#include "app/ladder/rung_watch.hpp"
#include "app/run_case.hpp"
#include "app/run_kernel.hpp"
#include "app/solved_cases.hpp"
#include "config/read_case.hpp"
#include "io/hdf5.hpp"
#include "io/problem_file.hpp"

namespace trireme {
namespace {

using test::SharedFile;
using test::SmallMatrix;

// x_i+1 = b_i, cyclically: BiCGSTAB breaks down, and a matching makes it the identity.
SmallMatrix cyclic_shift(std::int64_t rows) {
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    a.indices.push_back((i + 1) % rows);
    a.data.push_back(1);
    a.indptr.push_back(i + 1);
  }
  return a;
}

TEST(LadderRuns, TheNextRungSolvesEveryRightHandSideAndALaterRunBeginsThere) {
  constexpr std::int64_t rows = 40;
  SharedFile file("shift.h5"), kept("kept");
  file.write([&](hdf5::File& out) {
    cyclic_shift(rows).write(out);
    std::vector<double> columns;
    for (std::int64_t i = 0; i < rows; ++i)
      columns.insert(columns.end(), {i == 0 ? 1.0 : 0.0, i == 7 ? 2.0 : 0.0});
    out.create_dataset<double>("b", {rows, 2}).write(0, rows, columns.data());
  });
  Case c = test::case_of("file: " + file.path().string() + ", rhs: /b",
                         "device: cpu\nkernel: csr\nsolver: {method: auto, engine: resident}");
  c.cache = {.use = true, .directory = kept.path()};
  const RunOutcome first = run_case(MPI_COMM_WORLD, c, nullptr).runs[0];
  EXPECT_TRUE(first.converged) << first.reason;
  ASSERT_TRUE(first.ladder);
  ASSERT_EQ(first.ladder->rungs.size(), 2U);
  EXPECT_FALSE(first.ladder->rungs[0].solved);
  EXPECT_EQ(first.method, "bicgstab2");
  EXPECT_EQ(first.scaling, Scaling::matching);
  EXPECT_EQ(first.columns.size(), 2U);
  for (const ColumnOutcome& column : first.columns) EXPECT_TRUE(column.converged);

  const RunOutcome second = run_case(MPI_COMM_WORLD, c, nullptr).runs[0];
  EXPECT_TRUE(second.converged);
  ASSERT_EQ(second.ladder->rungs.size(), 1U);
  EXPECT_EQ(second.ladder->rungs[0].why, "an earlier run has ended with it");
}

TEST(LadderRuns, AResumedRunGoesOnWithTheRungThatWasStopped) {
  SharedFile folder("long");
  const auto run = [&](int limit, bool resume) {
    Case c = parse_case(fmt::format("problem: {{generate: poisson2d, n: 20, rhs: random}}\n"
                                    "device: cpu\nkernel: csr\nreport: {{directory: {}}}\n"
                                    "solver: {{engine: resident, max_iterations: {}}}\n",
                                    folder.path().string(), limit),
                        "test.yaml");
    c.report.resume = resume;
    return run_case(MPI_COMM_WORLD, c, nullptr).runs[0];
  };
  const RunOutcome stopped = run(8, false);
  EXPECT_FALSE(stopped.converged);
  ASSERT_GT(stopped.ladder->rungs.size(), 1U);
  const RungOutcome& last = stopped.ladder->rungs.back();
  const RunOutcome resumed = run(1000, true);
  EXPECT_TRUE(resumed.converged) << resumed.reason;
  EXPECT_EQ(resumed.ladder->rungs.front().why, "the run that is resumed was there");
  EXPECT_EQ(resumed.ladder->rungs.front().method, last.method);
  EXPECT_EQ(resumed.ladder->rungs.front().scaling, last.scaling);
}

// Complete factors that cost nothing, which were asked for, end a rung after its first solve.
TEST(LadderRuns, ARungThatIsLeftBetweenTwoSolvesHasNotSolvedAll) {
  const Case c = test::case_of("generate: poisson2d, n: 4, rhs: random, rhs_count: 3",
                               "device: cpu\nkernel: csr\nsolver: {method: cg, block: 1}");
  Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
  const auto matrix = distribute(MPI_COMM_WORLD, std::move(problem.matrix), problem.row_starts);
  PlainProduct plain(matrix);
  DirectOffer offer([] { return DirectForecast{.fits = true}; }, 0, false);
  offer.ask();
  RungWatch watch(MPI_COMM_WORLD, offer, false, 1e9);
  const SolveContext context{.spec = c,
                             .problem = problem,
                             .matrix = matrix,
                             .plain = plain,
                             .checkpoints = std::nullopt,
                             .watch = &watch};
  const KernelRun run = run_kernel(context, {.kernel = {.name = "csr"}}, {});
  EXPECT_TRUE(watch.leaves());
  EXPECT_EQ(run.solutions.size(), 1U);
  EXPECT_FALSE(run.outcome.converged);
  EXPECT_EQ(run.outcome.exit_code, ExitCode::not_converged);
}

}  // namespace
}  // namespace trireme
