// SPDX-License-Identifier: BSD-3-Clause
// `kernel: auto` leaves a slow kernel while the first solve runs, and keeps what it has learnt.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "app/case_cache.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

using test::case_of;

// teb has a host executor that is several times as slow as albus.
constexpr const char* kSlow = "teb";
constexpr const char* kProblem = "generate: poisson2d, n: 120";

class KernelTuningTest : public testing::Test {
 protected:
  KernelTuningTest() {
    std::string name = std::filesystem::temp_directory_path() / "trireme-tuning-XXXXXX";
    if (rank_of(MPI_COMM_WORLD) == 0 && !mkdtemp(name.data())) name.clear();
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = name;
  }
  ~KernelTuningTest() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) std::filesystem::remove_all(folder_);
  }

  Case automatic(const std::string& rest = "") {
    Case c = case_of(kProblem, "kernel: auto\ndevice: cpu\n" + rest);
    c.cache = {.use = true, .directory = folder_};
    return c;
  }

  static CaseOutcome run(const Case& c) { return run_case(MPI_COMM_WORLD, c, nullptr); }

  // Makes the cache say that the slow kernel was chosen, for so many products.
  // `iterations`: whether it also says how long a solve is, so that a trial may come before it.
  void keep_slow_decision(const Case& c, std::int64_t expected_products, bool iterations = true) {
    const CaseOutcome first = run(c);
    KernelDecision decision;
    decision.kernel = kSlow;
    decision.trial.expected_products = expected_products;
    if (iterations) decision.iterations = first.runs[0].iterations;
    std::vector<std::int64_t> starts = row_starts_of(c);
    SharedCache cache(MPI_COMM_WORLD, folder_);
    cache.keep_decision(decision_key(c, {.name = "auto"}, first, starts), decision, 1);
  }

  // More ranks than cores wait for each other, whichever kernel multiplies.
  static bool times_mean_something() { return size_of(MPI_COMM_WORLD) == 1; }

  // As the problem is read: see io/problem.hpp.
  static std::vector<std::int64_t> row_starts_of(const Case& c) {
    return load_problem(MPI_COMM_WORLD, c.problem).row_starts;
  }

  std::filesystem::path folder_;
};

TEST_F(KernelTuningTest, AShortSolveTriesNothing) {
  const CaseOutcome outcome = run(automatic("solver: {max_iterations: 15}"));
  const RunOutcome& run = outcome.runs[0];
  ASSERT_TRUE(run.trial);
  EXPECT_EQ(run.kernel, "albus");
  EXPECT_EQ(run.trial->seconds, 0);
  ASSERT_FALSE(run.trial->candidates.empty());
  EXPECT_TRUE(run.trial->candidates[0].chosen);
  for (const TrialCandidate& candidate : run.trial->candidates) {
    EXPECT_FALSE(candidate.product_us) << candidate.kernel;
    EXPECT_FALSE(candidate.verdict.empty()) << candidate.kernel;
  }
}

TEST_F(KernelTuningTest, ASlowKernelIsLeftAndTheSolutionIsTheSame) {
  for (const char* engine : {"resident", "petsc"}) {
    const Case c = automatic(std::string("repeat: 8\nsolver: {engine: ") + engine + "}");
    keep_slow_decision(c, 1);
    const CaseOutcome outcome = run(c);
    const RunOutcome& tuned = outcome.runs[0];
    EXPECT_TRUE(tuned.converged) << tuned.reason;
    if (times_mean_something()) {
      EXPECT_NE(tuned.kernel, kSlow) << engine;
    }
    ASSERT_TRUE(tuned.trial);
    EXPECT_GT(tuned.trial->seconds, 0);
    EXPECT_FALSE(tuned.trial->from_cache);
    EXPECT_EQ(tuned.trial->candidates[0].kernel, tuned.kernel);
    EXPECT_GE(tuned.trial->candidates.size(), 2U);
    EXPECT_LE(tuned.relative_residual, 1.02e-8);
    EXPECT_LE(*tuned.relative_error, 1e-6);
  }
}

// Changes in the middle of the first solve: the Krylov space goes on.
TEST_F(KernelTuningTest, TheIterationsAreThoseOfOneKernel) {
  if (!times_mean_something()) GTEST_SKIP() << "on one rank only";
  Case c = automatic("solver: {rtol: 1e-10}");
  const CaseOutcome alone = run(case_of(kProblem, "kernel: csr\nsolver: {rtol: 1e-10}"));
  keep_slow_decision(c, 1, false);
  const CaseOutcome outcome = run(c);
  const RunOutcome &tuned = outcome.runs[0], &csr = alone.runs[0];
  EXPECT_TRUE(tuned.converged) << tuned.reason;
  ASSERT_TRUE(tuned.trial->changed_at);
  EXPECT_GE(*tuned.trial->changed_at, 20);
  EXPECT_LT(*tuned.trial->changed_at, tuned.iterations);
  EXPECT_NEAR(static_cast<double>(tuned.iterations), static_cast<double>(csr.iterations), 3);
  EXPECT_EQ(std::ssize(tuned.history), tuned.iterations + 1);
  for (std::size_t k = 0; k < std::min(tuned.history.size(), csr.history.size()); k += 10)
    EXPECT_NEAR(std::log10(tuned.history[k]), std::log10(csr.history[k]), 0.05) << k;
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
  EXPECT_EQ(run(automatic("solver: {method: bicgstab}")).runs[0].kernel, "albus");
  EXPECT_EQ(run(automatic("reproducible: false")).runs[0].kernel, "albus");
}

TEST_F(KernelTuningTest, AutoAndANamedKernelAreTwoRuns) {
  const CaseOutcome outcome =
      run(case_of(kProblem, "kernel: [auto, albus]\nsolver: {max_iterations: 15}"));
  ASSERT_EQ(outcome.runs.size(), 2U);
  EXPECT_EQ(label(outcome.runs[0]), "auto-albus");
  EXPECT_EQ(label(outcome.runs[1]), "albus");
}

}  // namespace
}  // namespace trireme
