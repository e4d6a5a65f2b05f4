// SPDX-License-Identifier: BSD-3-Clause
// The strategies of solving and what they share, without a run around them.
#include <gtest/gtest.h>

#include <utility>

#include "app/solves/judging.hpp"
#include "app/solves/scaled_system.hpp"
#include "app/solves/strategies/in_blocks.hpp"
#include "app/solves/strategies/one_by_one.hpp"
#include "petsc/vectors.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

// A case with right-hand sides that is ready to be solved.
class Strategies : public testing::Test {
 protected:
  void make(const std::string& rest = "") {
    case_ = test::case_of("generate: poisson2d, n: 20, rhs: random, rhs_count: 5", rest);
    problem_ = load_problem(MPI_COMM_WORLD, case_.problem);
    matrix_ = distribute(MPI_COMM_WORLD, std::move(problem_.matrix), problem_.row_starts);
    plain_.emplace(matrix_);
    context_.emplace(SolveContext{.spec = case_,
                                  .problem = problem_,
                                  .matrix = matrix_,
                                  .plain = *plain_,
                                  .checkpoints = std::nullopt});
    plan_.amat = make_amat(matrix_, {.name = "csr"}, nullptr);
    plan_.solver = std::make_unique<KspSolver>(case_.solver, plan_.amat->mat(),
                                               plan_.amat->assembled(), matrix_);
    plan_.amat->choose_row_order(*plan_.solver);
    plan_.solver->prepare();
    parts_.emplace(*context_, plan_, on_iteration_);
  }
  // Says that an earlier run has solved right-hand side k.
  void solved_before(std::size_t k) {
    KspResult result;
    result.verdict.converged = true;
    parts_->checkpointer.solved(k, result);
  }
  FirstGuess guess(const Array<double>& x) const { return {.name = "x0", .x = x, .nonzero = true}; }

  Case case_;
  Problem problem_;
  std::shared_ptr<DistributedMatrix> matrix_;
  std::optional<PlainProduct> plain_;
  std::optional<SolveContext> context_;
  Plan plan_;
  IterationCallback on_iteration_;
  std::optional<SolveParts> parts_;
};

TEST_F(Strategies, ABlockEndsBeforeARightHandSideThatIsSolvedAlready) {
  make("solver: {block: 4}");
  solved_before(2);
  InBlocks in_blocks(*parts_);
  EXPECT_TRUE(in_blocks.solve(0));
  EXPECT_EQ(parts_->done, 2);
  EXPECT_TRUE(in_blocks.solve(3));
  EXPECT_EQ(parts_->done, 4);
  EXPECT_TRUE(parts_->solutions[2].empty());
  for (const std::size_t k : {0, 1, 3, 4}) EXPECT_LE(parts_->records.residuals[k], 1.02e-8) << k;
  RunOutcome outcome;
  in_blocks.fill(outcome);
  EXPECT_EQ(outcome.block, 2);
}

// One right-hand side after another gives what blocks give, but for the order of their sums.
TEST_F(Strategies, BlocksAndSingleSolvesAgree) {
  make("solver: {block: 5, rtol: 1e-10}");
  InBlocks(*parts_).solve(0);
  const std::vector<Array<double>> together = parts_->solutions;
  ASSERT_EQ(parts_->done, 5);
  make("solver: {rtol: 1e-10}");
  OneByOne one_by_one(*parts_);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_TRUE(one_by_one.solve(k));
    ASSERT_EQ(together[k].size(), parts_->solutions[k].size());
    for (std::size_t i = 0; i < together[k].size(); ++i)
      EXPECT_NEAR(together[k][i], parts_->solutions[k][i], 1e-7);
  }
}

TEST_F(Strategies, WhatAnEarlierRunHasLeftIsJudgedAndNotBelieved) {
  make("solver: {block: 1}");
  OneByOne(*parts_).solve(0);
  const Array<double> good = parts_->solutions[0];
  make("solver: {block: 1}");
  for (const std::size_t k : {0, 1}) {
    parts_->solutions[k] = good;
    solved_before(k);
  }
  EXPECT_TRUE(take_over(*parts_, 0));
  EXPECT_EQ(parts_->done, 1);
  EXPECT_TRUE(parts_->records.columns[0].converged);
  EXPECT_FALSE(take_over(*parts_, 1)) << "it solves another system";
  EXPECT_EQ(parts_->done, 1);
  EXPECT_EQ(parts_->records.again, std::vector<std::size_t>{2});
  EXPECT_FALSE(parts_->checkpointer.is_solved(1)) << "it is to be solved again";
}

TEST_F(Strategies, AGuessThatIsWorseThanZeroIsLeftOutAndNoted) {
  make();
  const Array<double> far(matrix_->local_rows(), 1e6);
  FirstGuess first = guess(far);
  const auto system = system_from(first, 3, *parts_);
  EXPECT_FALSE(first.nonzero);
  EXPECT_EQ(first.name, "zero");
  EXPECT_EQ(system->first_norm, system->rhs_norm);
  ASSERT_EQ(parts_->records.worse_guesses.size(), 1u);
  EXPECT_EQ(parts_->records.worse_guesses[0].k, 3u);

  FirstGuess by_solver = guess(far);
  system_from(by_solver, 3, *parts_, true);
  EXPECT_TRUE(by_solver.nonzero) << "the solver compares it with 0";
  EXPECT_EQ(parts_->records.worse_guesses.size(), 1u);
}

// The tuners of kernel and preconditioner leave the loop, and it goes on afterwards.
TEST_F(Strategies, AGuessThatWasWorseStaysKnownWhereTheLoopIsLeft) {
  make("device: cpu");
  const Mat mat = plan_.amat->mat();
  Array<double> of_b, of_x;
  const VecHandle b = vector_over(of_b, mat), x = vector_over(of_x, mat);
  set_local_values(b, Array<double>(matrix_->local_rows(), 1));
  set_local_values(x, Array<double>(matrix_->local_rows(), 1e6));
  int asked = 0, left = 0;
  const Interlude interlude = {.due = [&] { return ++asked == 3; },
                               .run =
                                   [&] {
                                     ++left;
                                     return After::go_on;
                                   }};
  const KspResult result = parts_->checkpointer.solve(
      *plan_.solver, b, x,
      {.nonzero_guess = true, .solution = {}, .guess = {}, .interlude = interlude});
  EXPECT_EQ(left, 1);
  EXPECT_TRUE(result.verdict.converged);
  EXPECT_GT(result.facts.dropped_norm, 1e6);
}

TEST(FirstGuess, IsOnTheLineThroughTheLastTwoSteps) {
  const std::vector<Array<double>> solutions = {{1, 2}, {4, 0}, {}};
  const FirstGuess line = guess_from(solutions, 2, Guess::extrapolate);
  EXPECT_EQ(line.name, "extrapolate");
  EXPECT_EQ(Array<double>(line.x.begin(), line.x.end()), (Array<double>{7, -2}));
  const FirstGuess second = guess_from(solutions, 1, Guess::extrapolate);
  EXPECT_EQ(second.name, "previous") << "one step has no line";
  EXPECT_EQ(second.x.data(), solutions[0].data());
  EXPECT_EQ(guess_from(solutions, 2, Guess::previous).x.data(), solutions[1].data());
  EXPECT_FALSE(guess_from(solutions, 2, Guess::zero).nonzero);
}

}  // namespace
}  // namespace trireme
