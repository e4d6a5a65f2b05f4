// SPDX-License-Identifier: BSD-3-Clause
// What a search does with its solver, whose iterations take 1 ms by whatever preconditioner.
#include "planning/preconditioner_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace trireme {
namespace {

using solvers::PreconditionerKind;

constexpr double kSetUp = 0.25;

class MadeUpSolver : public ChangeableSolver {
 public:
  double change_preconditioner(const AnyPreconditioner& preconditioner) override {
    if (fails && preconditioner.is(PreconditionerKind::given)) fail(ExitCode::input, "no memory");
    taken.push_back(preconditioner);
    return kSetUp;
  }
  double product_seconds() const override { return product; }
  bool on_gpu() const override { return false; }
  double iteration_seconds(double) const override { return 1e-3; }
  std::optional<std::size_t> decide(std::optional<std::size_t> next) const override {
    return next && decision ? decision : next;
  }

  double product = 1e-9;
  bool fails = false;
  std::optional<std::size_t> decision{};
  std::vector<AnyPreconditioner> taken{};
};

// Option 1 is multigrid.
class PreconditionerSearchTest : public testing::Test {
 protected:
  PreconditionerSearch search(PreconditionerSearch::Settings settings = {}) {
    return {{.preconditioners = {AnyPreconditioner(PreconditionerKind::jacobi),
                                 AnyPreconditioner(PreconditionerKind::given)},
             .options = {{}, {.rate = 0.5}}},
            solver_,
            settings};
  }
  // The first iterations of a solve for 8 decades, each of which gives 1/1000 of a decade.
  static void iterate(PreconditionerSearch& search, int iterations) {
    for (int k = 0; k <= iterations; ++k) search.iteration(std::pow(10.0, -1e-3 * k), 1e-8);
  }

  MadeUpSolver solver_;
};

TEST_F(PreconditionerSearchTest, AChangeWithinASolveTellsWhatItWas) {
  PreconditionerSearch search = this->search();
  EXPECT_FALSE(search.solve_begins(0));
  iterate(search, 7);
  EXPECT_FALSE(search.due()) << "a rate takes eight iterations";
  iterate(search, 4);
  ASSERT_TRUE(search.due());
  const auto change = search.change();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->option, 1u);
  EXPECT_EQ(change->seconds, kSetUp);
  EXPECT_FALSE(change->renewal);
  EXPECT_EQ(change->iteration, 12);
  EXPECT_TRUE(change->failure.empty());
  EXPECT_TRUE(search.running().is_multigrid());
  EXPECT_EQ(search.rule().options()[1].set_up_seconds, kSetUp);
}

TEST_F(PreconditionerSearchTest, WithoutChangesNothingIsDue) {
  PreconditionerSearch search = this->search({.makes_changes = false, .counts_longest = false});
  search.solve_begins(9);
  iterate(search, 20);
  EXPECT_FALSE(search.due());
  search.solve_ends(false);
  EXPECT_FALSE(search.solve_begins(9));
  EXPECT_EQ(search.solves(), 1);
}

TEST_F(PreconditionerSearchTest, WhatIsNotPossibleIsTriedOnce) {
  solver_.fails = true;
  PreconditionerSearch search = this->search();
  search.solve_begins(0);
  iterate(search, 20);
  ASSERT_TRUE(search.due());
  const auto change = search.change();
  ASSERT_TRUE(change);
  EXPECT_EQ(change->failure, "no memory");
  EXPECT_EQ(change->option, 1u);
  EXPECT_EQ(search.rule().running(), 0u);
  ASSERT_EQ(solver_.taken.size(), 1u);
  EXPECT_TRUE(solver_.taken[0].is(PreconditionerKind::jacobi));
  iterate(search, 100);
  EXPECT_FALSE(search.due());
}

TEST_F(PreconditionerSearchTest, ASolveThatFailsIsRepeatedWithTheFirstOne) {
  PreconditionerSearch search = this->search();
  search.solve_begins(0);
  iterate(search, 20);
  ASSERT_TRUE(search.due());
  search.change();
  EXPECT_EQ(search.fall_back("left: it failed").option, 0u);
  EXPECT_EQ(search.rule().running(), 0u);
  EXPECT_EQ(search.rule().options()[1].failure, "left: it failed");
  iterate(search, 100);
  EXPECT_FALSE(search.due());
}

TEST_F(PreconditionerSearchTest, TheSolverMayDecideForARenewal) {
  PreconditionerSearch search = this->search();
  search.solve_begins(0);
  iterate(search, 20);
  ASSERT_TRUE(search.due());
  search.change();
  // Jacobi promised more than multigrid does now.
  for (int k = 0; k < 20; ++k) search.iteration(1, 1e-8);
  ASSERT_TRUE(search.due());
  solver_.decision = 1;
  const auto change = search.change();
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->renewal);
  EXPECT_TRUE(search.running().is_multigrid());
  EXPECT_TRUE(search.rule().options()[1].failure.empty());
}

// Jacobi needs 8000 iterations, of which the rule expects ten times those of the past. A solve by
// multigrid takes 16 iterations of 16 ms.
TEST_F(PreconditionerSearchTest, ThePastOfASolveMayBeThatOfTheLongestOne) {
  solver_.product = 1e-3;
  for (const bool counts_longest : {false, true}) {
    PreconditionerSearch search =
        this->search({.makes_changes = true, .counts_longest = counts_longest});
    search.solve_begins(99);
    iterate(search, 300);
    search.solve_ends(false);
    EXPECT_FALSE(search.solve_begins(99));
    iterate(search, 20);
    EXPECT_EQ(search.due(), counts_longest);
  }
}

}  // namespace
}  // namespace trireme
