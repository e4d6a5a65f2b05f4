// SPDX-License-Identifier: BSD-3-Clause
// Pipelined CG: the iterates of CG, sums that run beside the product, and what the replacement of
// residuals is for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

using test::grid_matrix;
using test::Options;
using test::random_vector;
using test::relative_residual;
using test::Solved;

Options with(Variant variant, double rtol = 1e-8) {
  Options options;
  options.variant = variant;
  options.rule.rtol = rtol;
  return options;
}

// The matrix (-1, 2 + shift, -1).
CsrMatrix<double> line(std::int64_t n, double shift = 0) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min(n, i + 2); ++j) {
      a.col_idx.push_back(static_cast<std::int32_t>(j));
      a.values.push_back(i == j ? 2 + shift : -1);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

TEST(PipelinedCg, HasTheHistoryOfCgAtFirst) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 50);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  for (const NormKind norm :
       {NormKind::unpreconditioned, NormKind::preconditioned, NormKind::natural})
    for (const bool jacobi : {false, true}) {
      Options classic = with(Variant::classic), pipelined = with(Variant::pipelined);
      if (jacobi) classic.preconditioner = pipelined.preconditioner = test::jacobi(d);
      classic.rule.norm = pipelined.rule.norm = norm;
      const Solved one = test::solve(a, b, classic), other = test::solve(a, b, pipelined);
      EXPECT_EQ(other.outcome.reason, Reason::rtol);
      EXPECT_EQ(other.outcome.variant, Variant::pipelined);
      ASSERT_GE(std::min(one.history.size(), other.history.size()), 60U);
      for (std::size_t k = 0; k < 60; ++k)
        EXPECT_NEAR(other.history[k] / one.history[k], 1, 1e-8) << k;
      EXPECT_NEAR(static_cast<double>(other.outcome.iterations),
                  static_cast<double>(one.outcome.iterations), 2);
    }
}

// Without replacements of the residual, this system takes 1.6 to 1.9 times the iterations of CG.
TEST(PipelinedCg, ReachesTheTrueResidualOfCgOnIllConditionedSystems) {
  const CsrMatrix<double> a = line(600), wild = grid_matrix(60, 0, 1e6);
  for (const CsrMatrix<double>* matrix : {&a, &wild}) {
    Array<double> b(matrix->rows);
    build_host_kernel<double>("csr", matrix->view())
        ->multiply(random_vector<double>(matrix->rows), b, Accumulate::no);
    const Array<double> d = test::diagonal_of(*matrix);
    for (const double rtol : {1e-10, 1e-12}) {
      Options classic = with(Variant::classic, rtol), pipelined = with(Variant::pipelined, rtol);
      classic.preconditioner = pipelined.preconditioner = test::jacobi(d);
      const Solved one = test::solve(*matrix, b, classic),
                   other = test::solve(*matrix, b, pipelined);
      SCOPED_TRACE(std::to_string(matrix->rows) + " rows, " + std::to_string(rtol));
      ASSERT_EQ(one.outcome.reason, Reason::rtol);
      EXPECT_EQ(other.outcome.reason, Reason::rtol);
      EXPECT_LE(relative_residual(*matrix, b, other.x), 1.01 * rtol);
      EXPECT_LE(other.outcome.iterations, one.outcome.iterations * 11 / 10 + 5);
      EXPECT_GE(other.outcome.replacements, other.outcome.iterations / 100 - 1);
    }
  }
}

// A replacement that loses a factor of the recurrence, or counts as stagnation, only costs
// iterations.
TEST(PipelinedCg, ReplacementsCostNoIterations) {
  const CsrMatrix<double> a = line(600), wild = grid_matrix(60, 0, 1e6);
  for (const CsrMatrix<double>* matrix : {&a, &wild}) {
    const Array<double> b = random_vector<double>(matrix->rows), d = test::diagonal_of(*matrix);
    Options classic = with(Variant::classic, 1e-9), pipelined = with(Variant::pipelined, 1e-9);
    classic.preconditioner = pipelined.preconditioner = test::jacobi(d);
    const Solved one = test::solve(*matrix, b, classic), other = test::solve(*matrix, b, pipelined);
    EXPECT_EQ(one.outcome.reason, Reason::rtol);
    EXPECT_EQ(other.outcome.reason, Reason::rtol);
    EXPECT_NEAR(static_cast<double>(other.outcome.iterations),
                static_cast<double>(one.outcome.iterations), 3);
    EXPECT_EQ(other.outcome.replacements, (other.outcome.iterations - 1) / kReplaceAfter)
        << other.outcome.iterations;
  }
}

// After 30 iterations, a residual of norm 3 is replaced by one of norm 4.
TEST(PipelinedCg, AReplacementScalesBetaByTheNewRho) {
  const auto replaced = [](double change) {
    State s;
    s.rule.rtol = 1e-8;
    s.correct_below = kReplaceBelow;
    begin(s, 10);
    s.iterations = 30;
    s.rho = 9;
    s.beta = 0.5;
    s.phase = Phase::waiting;
    s.due = Due::correction;
    const double sums[] = {change * change, 16, 18, 16};
    PipelinedReplace{}(s, sums);
    return s;
  };
  const State small = replaced(1);
  EXPECT_TRUE(running(small));
  EXPECT_EQ(small.rho, 18);
  EXPECT_EQ(small.beta, 1);
  EXPECT_EQ(small.stalls, 0);
  EXPECT_EQ(small.replacements, 1);
  EXPECT_EQ(small.restarted_at, 30);
  const State large = replaced(2.1);  // the directions do not fit the new residual
  EXPECT_FALSE(running(large));
  EXPECT_EQ(large.due, Due::new_start);
  EXPECT_EQ(large.replacements, 0) << "the new start counts it";
}

TEST(PipelinedCg, StagnatesWhereCgDoes) {
  const CsrMatrix<double> a = line(300);
  const Array<double> b = random_vector<double>(a.rows);
  for (const Variant variant : {Variant::classic, Variant::pipelined}) {
    const Solved solved = test::solve(a, b, with(variant, 1e-17));
    EXPECT_TRUE(solved.outcome.stagnated);
    EXPECT_LE(solved.outcome.iterations, 3000);
    EXPECT_LE(relative_residual(a, b, solved.x), 1e-11);
  }
}

// Notes the order of products and sums.
class Noting : public HostKernelSystem {
 public:
  using HostKernelSystem::HostKernelSystem;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override {
    order += '*';
    HostKernelSystem::multiply_exactly(x, y);
  }
  void sum(std::span<double>) override { order += '+'; }
  void start_sum(std::span<double>) override { order += '('; }
  void finish_sum() override { order += ')'; }
  std::string order;
};

TEST(PipelinedCg, SumsRunBesideTheProduct) {
  const CsrMatrix<double> a = grid_matrix(8);
  const Array<double> b = random_vector<double>(a.rows);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  Noting system(*kernel, a.rows);
  Options options = with(Variant::pipelined);
  options.rule.max_iterations = 3;
  EXPECT_EQ(test::solve(system, b, options).outcome.iterations, 3);
  EXPECT_EQ(system.order, "*+*(*)(*)(*)");
}

TEST(PipelinedCg, RefusesWhatCgRefuses) {
  CsrMatrix<double> indefinite = grid_matrix(12);
  indefinite.values[0] = -50;
  const CsrMatrix<double> a = grid_matrix(12);
  Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  EXPECT_EQ(test::solve(indefinite, b, with(Variant::pipelined)).outcome.reason,
            Reason::indefinite_matrix);
  d[7] = -d[7] / 10;
  Options negative = with(Variant::pipelined);
  negative.preconditioner = test::jacobi(d);
  EXPECT_LT(static_cast<int>(test::solve(a, b, negative).outcome.reason), 0);
  b[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(test::solve(a, b, with(Variant::pipelined)).outcome.reason, Reason::not_finite);
}

TEST(PipelinedCg, PowersOfTwoInMatrixAndRightHandSideChangeNothing) {
  const CsrMatrix<double> a = line(400);
  const Array<double> b = random_vector<double>(a.rows);
  const Solved plain = test::solve(a, b, with(Variant::pipelined, 1e-11));
  ASSERT_EQ(plain.outcome.reason, Reason::rtol);
  for (const int of_a : {-200, 200})
    for (const int of_b : {-300, 300}) {
      CsrMatrix<double> scaled = a;
      for (double& value : scaled.values) value = std::ldexp(value, of_a);
      Array<double> scaled_b = b;
      for (double& value : scaled_b) value = std::ldexp(value, of_b);
      Options options = with(Variant::pipelined, 1e-11);
      options.rule.atol = 0;
      const Solved solved = test::solve(scaled, scaled_b, options);
      EXPECT_EQ(solved.outcome.iterations, plain.outcome.iterations);
      EXPECT_EQ(solved.outcome.replacements, plain.outcome.replacements);
      for (std::size_t i = 0; i < plain.x.size(); ++i)
        ASSERT_EQ(solved.x[i], std::ldexp(plain.x[i], of_b - of_a));
    }
}

TEST(PipelinedCg, WithoutANormOrWithATestOfTheCallerItReplacesNothing) {
  const CsrMatrix<double> a = line(400);
  const Array<double> b = random_vector<double>(a.rows);
  Options blind = with(Variant::pipelined);
  blind.rule.norm = NormKind::none;
  blind.rule.max_iterations = 250;
  blind.rule.limit_is_success = true;
  const Solved fixed = test::solve(a, b, blind);
  EXPECT_EQ(fixed.outcome.reason, Reason::iterations_done);
  EXPECT_EQ(fixed.outcome.iterations, 250);
  EXPECT_EQ(fixed.outcome.replacements, 0);

  Options judged = with(Variant::pipelined);
  judged.rule.judged_by_caller = true;
  judged.observer.iteration = [](const State& s, const Iterate&) {
    return s.iterations == 250 ? Reason::rtol : Reason::running;
  };
  const Solved own = test::solve(a, b, judged);
  EXPECT_EQ(own.outcome.reason, Reason::rtol);
  EXPECT_EQ(own.outcome.iterations, 250);
  EXPECT_EQ(own.outcome.replacements, 0);
}

}  // namespace
}  // namespace trireme::solvers
