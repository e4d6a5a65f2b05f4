// SPDX-License-Identifier: BSD-3-Clause
// `preconditioner: auto` changes to multigrid where that pays, and stays with Jacobi elsewhere.
#include <gtest/gtest.h>

#include <string>

#include "app/run_kernel.hpp"
#include "io/problem.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

using test::case_of;

// One run in which an iteration of Jacobi takes 1 ms, one of multigrid `multigrid` seconds, one of any
// other 50 ms, and a product `product` seconds, from which the set-up is predicted.
RunOutcome run_with(const Case& c, double multigrid, double product) {
  Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
  const auto matrix = distribute(MPI_COMM_WORLD, std::move(problem.matrix), problem.row_starts);
  PlainProduct plain(matrix);
  const SolveContext context{.spec = c,
                             .problem = problem,
                             .matrix = matrix,
                             .plain = plain,
                             .checkpoints = std::nullopt,
                             .preconditioner_clock = {.iteration_seconds =
                                                          [=](const std::string& name) {
                                                            return name == "multigrid" ? multigrid
                                                                   : name == "jacobi"  ? 1e-3
                                                                                       : 50e-3;
                                                          },
                                                      .product_seconds = [=] { return product; }}};
  return run_kernel(context, {.kernel = {.name = "csr"}}, {}).outcome;
}

Case automatic(const std::string& problem, const std::string& solver = "") {
  return case_of(problem, "solver: {preconditioner: auto" + solver + "}\ndevice: cpu\nrepeat: 4\n");
}

const std::string kPoisson = "generate: poisson2d, n: 60, rhs: random";

TEST(PreconditionerTuning, ACheapMultigridTakesOverWithinTheFirstSolve) {
  const RunOutcome run = run_with(automatic(kPoisson), 1e-3, 1e-6);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_LE(run.relative_residual, 1.02e-8);
  EXPECT_EQ(run.preconditioner, "multigrid");
  ASSERT_TRUE(run.preconditioner_choice);
  const PreconditionerChoice& choice = *run.preconditioner_choice;
  EXPECT_EQ(choice.began_with, "jacobi");
  EXPECT_EQ(choice.solves, 4);
  ASSERT_TRUE(choice.changed_at);
  EXPECT_GE(*choice.changed_at, 8);
  EXPECT_EQ(choice.candidates[0].name, "multigrid");
  EXPECT_TRUE(choice.candidates[0].measured);
  EXPECT_TRUE(run.multigrid);
  EXPECT_LE(run.iterations, 40) << "the last solve is by multigrid alone";
}

TEST(PreconditionerTuning, ADearMultigridIsNotTried) {
  const RunOutcome run = run_with(automatic(kPoisson), 1, 1e-3);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(run.preconditioner, "jacobi");
  ASSERT_TRUE(run.preconditioner_choice);
  EXPECT_EQ(run.preconditioner_choice->candidates[0].name, "jacobi");
  EXPECT_FALSE(run.preconditioner_choice->changed_at);
  EXPECT_FALSE(run.multigrid);
  for (const PreconditionerCandidate& c : run.preconditioner_choice->candidates)
    EXPECT_FALSE(c.verdict.empty()) << c.name;
}

TEST(PreconditionerTuning, AMultigridThatDisappointsIsLeft) {
  const RunOutcome run = run_with(automatic(kPoisson), 1, 1e-6);
  EXPECT_TRUE(run.converged) << run.reason;
  EXPECT_EQ(run.preconditioner, "jacobi");
  EXPECT_LE(run.relative_residual, 1.02e-8);
}

TEST(PreconditionerTuning, AMatrixThatIsNotDefiniteKeepsWhatItBeganWith) {
  const RunOutcome run =
      run_with(automatic("generate: saddle, n: 6, rhs: random", ", method: minres"), 1e-6, 1e-6);
  ASSERT_TRUE(run.preconditioner_choice);
  EXPECT_EQ(run.preconditioner, "none");
  EXPECT_TRUE(run.converged) << run.reason;
}

}  // namespace
}  // namespace trireme
