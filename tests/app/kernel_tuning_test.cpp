// SPDX-License-Identifier: BSD-3-Clause
// `kernel: auto` leaves a slow kernel while the first solve runs, and keeps what it has learnt.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "app/kept/case_cache.hpp"
#include "app/run_kernel.hpp"
#include "cache_of_ranks.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"
#include "solved_cases.hpp"
#include "support/watched.hpp"

namespace trireme {
namespace {

using test::case_of;

// teb has a host executor that is several times as slow as albus.
constexpr const char* kSlow = "teb";
constexpr const char* kProblem = "generate: poisson2d, n: 120";

class KernelTuningTest : public test::CacheOfRanks {
 protected:
  Case automatic(const std::string& rest = "") {
    Case c = case_of(kProblem, "kernel: auto\ndevice: cpu\n" + rest);
    c.cache = {.use = true, .directory = folder_};
    return c;
  }

  static CaseOutcome run(const Case& c) { return run_case(MPI_COMM_WORLD, c, nullptr); }

  // Makes the cache say that the slow kernel was chosen, for so many products.
  void keep_slow_decision(const Case& c, std::int64_t expected_products) {
    const CaseOutcome first = run(c);
    KernelDecision decision;
    decision.kernel = kSlow;
    decision.trial.expected_products = expected_products;
    decision.iterations = first.runs[0].iterations;
    std::vector<std::int64_t> starts = row_starts_of(c);
    SharedCache cache(MPI_COMM_WORLD, folder_);
    cache.keep_decision(decision_key(c, {.name = "auto"}, first, starts), decision, 1);
  }

  // As the problem is read: see io/problem.hpp.
  static std::vector<std::int64_t> row_starts_of(const Case& c) {
    return load_problem(MPI_COMM_WORLD, c.problem).row_starts;
  }
};

TEST_F(KernelTuningTest, AShortSolveTriesNothing) {
  const CaseOutcome outcome = run(automatic("solver: {max_iterations: 15}"));
  const RunOutcome& run = outcome.runs[0];
  ASSERT_TRUE(run.trial);
  EXPECT_EQ(run.kernel, "albus");
  ASSERT_FALSE(run.trial->candidates.empty());
  EXPECT_TRUE(run.trial->candidates[0].chosen);
  for (const TrialCandidate& candidate : run.trial->candidates) {
    EXPECT_FALSE(candidate.product_us) << candidate.kernel;
    EXPECT_FALSE(candidate.verdict.empty()) << candidate.kernel;
  }
}

// One run that begins with the slow kernel, where a product takes as long as `measure` says.
KernelRun run_from_slow(const Case& c, const MeasureProduct& measure) {
  Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
  const auto matrix = distribute(MPI_COMM_WORLD, std::move(problem.matrix), problem.row_starts);
  PlainProduct plain(matrix);
  const SolveContext context{.spec = c,
                             .problem = problem,
                             .matrix = matrix,
                             .plain = plain,
                             .checkpoints = std::nullopt,
                             .measure = measure};
  return run_kernel(context, {.kernel = {.name = kSlow}, .automatic = true}, {});
}

double albus_is_fastest(Operator& op, int) {
  return op.kernel() == "albus" ? 10 : op.kernel() == kSlow ? 1000 : 500;
}

TEST_F(KernelTuningTest, ASlowKernelIsLeftAndTheSolutionIsTheSame) {
  for (const char* engine : {"resident", "petsc"}) {
    const KernelRun run = run_from_slow(
        automatic(std::string("repeat: 8\nsolver: {engine: ") + engine + "}"), albus_is_fastest);
    const RunOutcome& tuned = run.outcome;
    EXPECT_TRUE(tuned.converged) << tuned.reason;
    EXPECT_EQ(tuned.kernel, "albus") << engine;
    ASSERT_TRUE(tuned.trial);
    EXPECT_EQ(tuned.trial->began_with, kSlow);
    EXPECT_GT(tuned.trial->seconds, 0);
    EXPECT_FALSE(tuned.trial->from_cache);
    EXPECT_EQ(tuned.trial->candidates[0].kernel, "albus");
    EXPECT_EQ(tuned.trial->candidates[0].product_us, 10);
    EXPECT_LE(tuned.relative_residual, 1.02e-8);
    EXPECT_LE(*tuned.relative_error, 1e-6);
    ASSERT_TRUE(run.decision);
    EXPECT_EQ(run.decision->kernel, "albus");
    EXPECT_EQ(run.decision->iterations, tuned.iterations);
  }
}

// Changes in the middle of the first solve: the Krylov space goes on.
TEST_F(KernelTuningTest, TheIterationsAreThoseOfOneKernel) {
  const Case c = automatic("solver: {rtol: 1e-10}");
  const CaseOutcome alone = run(case_of(kProblem, "kernel: csr\nsolver: {rtol: 1e-10}"));
  const KernelRun with_a_change = run_from_slow(c, albus_is_fastest);
  const RunOutcome &tuned = with_a_change.outcome, &csr = alone.runs[0];
  EXPECT_TRUE(tuned.converged) << tuned.reason;
  ASSERT_TRUE(tuned.trial->changed_at);
  EXPECT_GE(*tuned.trial->changed_at, 20);
  EXPECT_LT(*tuned.trial->changed_at, tuned.iterations);
  EXPECT_NEAR(static_cast<double>(tuned.iterations), static_cast<double>(csr.iterations), 3);
  EXPECT_EQ(std::ssize(tuned.history), tuned.iterations + 1);
  for (std::size_t k = 0; k < std::min(tuned.history.size(), csr.history.size()); k += 10)
    EXPECT_NEAR(std::log10(tuned.history[k]), std::log10(csr.history[k]), 0.05) << k;
}

TEST_F(KernelTuningTest, AKernelThatIsFastEnoughStays) {
  const KernelRun run = run_from_slow(automatic("repeat: 8"), [](Operator& op, int) {
    return op.kernel() == kSlow ? 100.0 : 99.0;
  });
  EXPECT_EQ(run.outcome.kernel, kSlow);
  EXPECT_GT(run.outcome.trial->seconds, 0);
  EXPECT_EQ(run.outcome.trial->candidates[0].kernel, kSlow);
}

// Only the clustered order is fast: it is found, used, and seen in no result.
TEST_F(KernelTuningTest, AnOrderOfRowsIsACandidate) {
  if (test::watched()) GTEST_SKIP() << "builds may take longer than the trials are allowed to";
  Case c = case_of("generate: mesh2d, n: 60", "kernel: auto\ndevice: cpu\nrepeat: 40");
  const KernelRun run = run_from_slow(c, [](Operator& op, int) {
    return op.ordered() && op.ordered()->ordering() == Ordering::cluster ? 10.0 : 1000.0;
  });
  EXPECT_EQ(run.outcome.ordering, "cluster");
  EXPECT_TRUE(run.outcome.converged) << run.outcome.reason;
  EXPECT_LE(*run.outcome.relative_error, 1e-5);
  EXPECT_GT(run.outcome.seconds.order, 0);
  for (const double x : run.solutions[0]) ASSERT_NEAR(x, 1, 1e-4);
}

// Multigrid, which may be found later, needs the rows as they are.
TEST_F(KernelTuningTest, NoOrderIsOneWhereThePreconditionerIsSearchedFor) {
  const Case c = case_of("generate: mesh2d, n: 60",
                         "kernel: auto\ndevice: cpu\nrepeat: 40\nsolver: {preconditioner: auto}");
  const KernelRun run = run_from_slow(c, [](Operator& op, int) {
    return op.ordered() ? 10.0 : op.kernel() == kSlow ? 1000.0 : 500.0;
  });
  EXPECT_EQ(run.outcome.ordering, "given");
  ASSERT_TRUE(run.outcome.trial);
  for (const TrialCandidate& candidate : run.outcome.trial->candidates)
    EXPECT_EQ(candidate.ordering, "given") << candidate.kernel;
  EXPECT_TRUE(run.outcome.converged) << run.outcome.reason;
}

TEST_F(KernelTuningTest, PetscsProductIsACandidate) {
  for (const char* engine : {"resident", "petsc"}) {
    const KernelRun run =
        run_from_slow(automatic(std::string("repeat: 20\nsolver: {engine: ") + engine + "}"),
                      [](Operator& op, int) { return op.kernel() == "petsc-aij" ? 10.0 : 1000.0; });
    EXPECT_EQ(run.outcome.kernel, "petsc-aij") << engine;
    EXPECT_TRUE(run.outcome.converged) << run.outcome.reason;
    EXPECT_LE(*run.outcome.relative_error, 1e-6);
  }
}

TEST_F(KernelTuningTest, AnOrderIsRefusedWhereThePreconditionerDependsOnIt) {
  for (const char* solver : {"{preconditioner: ilu}", "{engine: petsc}", "{method: fgmres}"}) {
    const std::string error = test::error_of(
        kProblem, std::string("kernel: csr\ndevice: cpu\nordering: rcm\nsolver: ") + solver,
        ExitCode::usage);
    EXPECT_NE(error.find("ordering: rcm"), std::string::npos) << error;
  }
}

TEST_F(KernelTuningTest, TheSolutionIsTheSameInEveryOrder) {
  const std::string problem = "generate: elasticity3d-shuffled, n: 6, rhs: random";
  const CaseOutcome given = run(case_of(problem, "kernel: csr\ndevice: cpu"));
  for (const char* order : {"rcm", "cluster"}) {
    const CaseOutcome ordered = run(case_of(
        problem, std::string("kernel: [csr, albus, sell]\ndevice: cpu\nordering: ") + order));
    for (const RunOutcome& run : ordered.runs) {
      EXPECT_TRUE(run.converged) << run.kernel << order << run.reason;
      EXPECT_EQ(run.ordering, order);
      EXPECT_NEAR(static_cast<double>(run.iterations),
                  static_cast<double>(given.runs[0].iterations), 2);
    }
  }
}

TEST_F(KernelTuningTest, ASecondRunSpendsNothing) {
  const Case c = automatic("repeat: 12");
  keep_slow_decision(c, 1);
  const CaseOutcome first = run(c);
  const CaseOutcome second = run(c);
  ASSERT_TRUE(second.runs[0].trial);
  EXPECT_TRUE(second.runs[0].trial->from_cache);
  EXPECT_EQ(second.runs[0].seconds.tune, 0);
  EXPECT_EQ(second.runs[0].kernel, first.runs[0].kernel);
  EXPECT_EQ(second.runs[0].trial->candidates.size(), first.runs[0].trial->candidates.size());
}

// A decision for as many products as the case does holds, whatever a trial would say.
TEST_F(KernelTuningTest, ADecisionHoldsForTheProductsThatItWasMadeFor) {
  const Case c = automatic("repeat: 3");
  keep_slow_decision(c, 1'000'000);
  const CaseOutcome outcome = run(c);
  EXPECT_EQ(outcome.runs[0].kernel, kSlow);
  EXPECT_EQ(outcome.runs[0].seconds.tune, 0);
}

TEST_F(KernelTuningTest, OtherSettingsHaveDecisionsOfTheirOwn) {
  const Case c = automatic();
  keep_slow_decision(c, 1'000'000);
  for (const char* other : {"solver: {method: bicgstab}", "reproducible: false"}) {
    const CaseOutcome outcome = run(automatic(other));
    EXPECT_FALSE(outcome.runs[0].trial->from_cache) << other;
    EXPECT_EQ(outcome.runs[0].trial->began_with, "albus") << other;
  }
  EXPECT_TRUE(run(c).runs[0].trial->from_cache);
}

TEST_F(KernelTuningTest, AutoAndANamedKernelAreTwoRuns) {
  const CaseOutcome outcome =
      run(case_of(kProblem, "kernel: [auto, albus]\nsolver: {max_iterations: 15}"));
  ASSERT_EQ(outcome.runs.size(), 2U);
  EXPECT_EQ(label(outcome.runs[0]).substr(0, 5), "auto-");  // which kernel it ends with is measured
  EXPECT_EQ(label(outcome.runs[1]), "albus");
}

}  // namespace
}  // namespace trireme
