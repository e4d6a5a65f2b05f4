// SPDX-License-Identifier: BSD-3-Clause
// The resident CG and BiCGSTAB on the host: answers, counts, reasons.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "kernels/registry.hpp"
#include "krylov/resident/host_kernel_system.hpp"
#include "krylov/resident_systems.hpp"

namespace trireme::resident {
namespace {

using test::from_dense;
using test::grid_matrix;
using test::random_vector;

// The systems are small: threads would only wait for each other.
[[maybe_unused]] const bool one_thread = [] {
  omp_set_num_threads(1);
  return true;
}();

struct Solved {
  Outcome outcome;
  Array<double> x;
  std::vector<double> history;
};

struct Options {
  Method method = Method::cg;
  Variant variant = Variant::automatic;
  PreconditionerSpec preconditioner;
  Tolerances rule;
  Observer observer;
  Array<double> x0;
  std::string kernel = "csr";
};

Solved solve(const CsrMatrix<double>& a, std::span<const double> b, Options options = {}) {
  const auto kernel = build_host_kernel<double>(options.kernel, a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostSolver solver(system, options.method, options.variant, options.preconditioner);
  Solved result;
  result.x = options.x0.empty() ? random_vector<double>(a.rows, 99) : options.x0;
  Observer observer = options.observer;
  observer.iteration = [&](const State& s, const Iterate& iterate) {
    EXPECT_EQ(s.iterations, static_cast<std::int64_t>(result.history.size()));
    result.history.push_back(s.norm);
    return options.observer.iteration ? options.observer.iteration(s, iterate) : Reason::running;
  };
  result.outcome = solver.solve({b, result.x, options.x0.empty()}, options.rule, observer);
  return result;
}

PreconditionerSpec jacobi(std::span<const double> diagonal) {
  PreconditionerSpec spec;
  spec.kind = PreconditionerSpec::Kind::jacobi;
  spec.diagonal = diagonal;
  return spec;
}

// The textbook, in long double: how many iterations Jacobi-CG takes.
std::int64_t textbook_cg_iterations(const CsrMatrix<double>& a, std::span<const double> b,
                                    double rtol) {
  const std::int64_t n = a.rows;
  const Array<double> d = test::diagonal_of(a);
  std::vector<long double> r(b.begin(), b.end()), p(n), q(n);
  long double rho = 0, norm_b = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    p[i] = r[i] / d[i];
    rho += r[i] * p[i];
    norm_b += r[i] * r[i];
  }
  for (std::int64_t iteration = 1; iteration < 10000; ++iteration) {
    long double curvature = 0, next = 0, norm = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      q[i] = 0;
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        q[i] += a.values[k] * p[a.col_idx[k]];
      curvature += p[i] * q[i];
    }
    for (std::int64_t i = 0; i < n; ++i) {
      r[i] -= rho / curvature * q[i];
      next += r[i] * r[i] / d[i];
      norm += r[i] * r[i];
    }
    if (std::sqrt(norm) <= rtol * std::sqrt(norm_b)) return iteration;
    for (std::int64_t i = 0; i < n; ++i) p[i] = r[i] / d[i] + next / rho * p[i];
    rho = next;
  }
  return -1;
}

class ResidentCg : public testing::TestWithParam<Variant> {
 protected:
  Options options() const {
    Options o;
    o.variant = GetParam();
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, ResidentCg, testing::Values(Variant::classic, Variant::merged),
                         [](const auto& variant) {
                           return variant.param == Variant::classic ? "Classic" : "Merged";
                         });

TEST_P(ResidentCg, TakesAsManyIterationsAsTheTextbook) {
  const CsrMatrix<double> a = grid_matrix(60, 0, 100);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_NEAR(solved.outcome.iterations, textbook_cg_iterations(a, b, 1e-8), 1);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
  ASSERT_EQ(solved.history.size(), static_cast<std::size_t>(solved.outcome.iterations) + 1);
  EXPECT_NEAR(solved.history.front(), test::norm(b), 1e-10 * test::norm(b));
}

TEST_P(ResidentCg, ReportsEachNorm) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 100);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  double unpreconditioned = 0, preconditioned = 0, natural = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    unpreconditioned += b[i] * b[i];
    preconditioned += b[i] / d[i] * b[i] / d[i];
    natural += b[i] * b[i] / d[i];
  }
  const std::pair<NormKind, double> expected[] = {{NormKind::unpreconditioned, unpreconditioned},
                                                  {NormKind::preconditioned, preconditioned},
                                                  {NormKind::natural, natural}};
  for (const auto& [kind, square] : expected) {
    Options o = options();
    o.preconditioner = jacobi(d);
    o.rule.norm = kind;
    const Solved solved = solve(a, b, o);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_NEAR(solved.history.front(), std::sqrt(square), 1e-12 * std::sqrt(square));
    EXPECT_LE(solved.outcome.norm, 1e-8 * std::sqrt(square));
  }
}

TEST_P(ResidentCg, NormNoneRunsToTheLimit) {
  const CsrMatrix<double> a = grid_matrix(20);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.norm = NormKind::none;
  o.rule.max_iterations = 7;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::iterations_done);
  EXPECT_EQ(solved.outcome.iterations, 7);
}

TEST_P(ResidentCg, StartsFromAGuessAndMeasuresAgainstB) {
  const CsrMatrix<double> a = grid_matrix(30);
  const Array<double> truth = random_vector<double>(a.rows);
  const Array<double> b = test::times(a, truth);
  Options o = options();
  o.x0 = truth;
  const Array<double> error = random_vector<double>(a.rows, 3);
  for (std::int64_t i = 0; i < a.rows; ++i) o.x0[i] += 1e-6 * error[i];
  const Solved near = solve(a, b, o);
  EXPECT_LE(test::relative_residual(a, b, near.x), 1.0001e-8);
  EXPECT_LT(near.history.front(), 1e-5 * test::norm(b));
  o.rule.relative_to_initial_residual = true;
  EXPECT_GT(solve(a, b, o).outcome.iterations, near.outcome.iterations);
}

TEST_P(ResidentCg, GivesTheSameBitsForAnyNumberOfThreads) {
  const CsrMatrix<double> a = grid_matrix(110, 0, 10);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const Solved one = solve(a, b, o);
  omp_set_num_threads(3);
  const Solved three = solve(a, b, o);
  omp_set_num_threads(1);
  EXPECT_EQ(one.history, three.history);
  EXPECT_EQ(one.x, three.x);
}

TEST_P(ResidentCg, HandsTheIterateThatBelongsToTheNorm) {
  const CsrMatrix<double> a = grid_matrix(25, 0, 10);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  int seen = 0;
  o.observer.iteration = [&](const State& s, const Iterate& it) {
    Array<double> x(it.x.begin(), it.x.end());
    if (it.step != 0)
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += it.step * it.direction[i];
    EXPECT_NEAR(test::relative_residual(a, b, x) * test::norm(b), s.norm, 1e-10 * test::norm(b));
    ++seen;
    return Reason::running;
  };
  solve(a, b, o);
  EXPECT_GT(seen, 10);
}

TEST_P(ResidentCg, MeetsATightToleranceByTheTrueResidual) {
  const CsrMatrix<double> a = grid_matrix(50, 0, 1e6);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  o.rule.rtol = 1e-13;
  const Solved solved = solve(a, b, o);
  if (solved.outcome.reason == Reason::rtol)
    EXPECT_LE(test::relative_residual(a, b, solved.x), 1.05e-13);
  else
    EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
}

TEST_P(ResidentCg, StagnationBeyondTheArithmeticIsBreakdown) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 1e6);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.rtol = 1e-18;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
  EXPECT_LT(test::relative_residual(a, b, solved.x), 1e-9);
}

TEST_P(ResidentCg, ZeroRightHandSideIsConvergedAtOnce) {
  const CsrMatrix<double> a = grid_matrix(10);
  const Array<double> b(a.rows, 0.0);
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 0);
  EXPECT_EQ(solved.x, Array<double>(a.rows, 0.0));
}

TEST_P(ResidentCg, ZeroRightHandSideWithAGuessIsMeasuredAgainstItsResidual) {
  const CsrMatrix<double> a = grid_matrix(10);
  const Array<double> b(a.rows, 0.0);
  Options o = options();
  o.x0 = random_vector<double>(a.rows);
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LT(test::norm(solved.x), 1e-6);
}

TEST_P(ResidentCg, ExactGuessIsConvergedAtOnce) {
  const CsrMatrix<double> a = from_dense({{2, 0}, {0, 4}});
  Options o = options();
  o.x0 = {1, 2};
  const Solved solved = solve(a, Array<double>{2, 8}, o);
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST_P(ResidentCg, ExactSolutionInOneStep) {
  const CsrMatrix<double> a = from_dense({{3, 0}, {0, 3}});
  const Solved solved = solve(a, Array<double>{3, 6}, options());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 1);
  EXPECT_EQ(solved.x, (Array<double>{1, 2}));
}

TEST_P(ResidentCg, IndefiniteMatrixIsSaidSo) {
  const CsrMatrix<double> a = from_dense({{1, 0, 0}, {0, -1, 0}, {0, 0, -3}});
  const Solved solved = solve(a, Array<double>{2, 1, 1}, options());
  EXPECT_EQ(solved.outcome.reason, Reason::indefinite_matrix);
  for (const double value : solved.x) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(ResidentCg, ZeroCurvatureIsSaidSo) {
  const CsrMatrix<double> a = from_dense({{0, 1}, {-1, 0}});
  EXPECT_EQ(solve(a, Array<double>{1, 1}, options()).outcome.reason, Reason::indefinite_matrix);
}

TEST_P(ResidentCg, IndefinitePreconditionerIsSaidSo) {
  const CsrMatrix<double> a = from_dense({{2, 1, 0}, {1, 3, 1}, {0, 1, 4}});
  const Array<double> d = {1, -0.4, 1};
  Options o = options();
  o.preconditioner = jacobi(d);
  const Solved solved = solve(a, Array<double>{1, 1, 1}, o);
  EXPECT_EQ(solved.outcome.reason, Reason::indefinite_preconditioner);
}

TEST_P(ResidentCg, NegativeDefiniteMatrixIsSolvedAsByPetsc) {
  CsrMatrix<double> a = grid_matrix(12);
  for (double& value : a.values) value = -value;
  const Array<double> b = random_vector<double>(a.rows);
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST_P(ResidentCg, SingularMatrixWithAConsistentRightHandSideIsSolved) {
  const CsrMatrix<double> a = test::path_laplacian(40);
  const Array<double> b = test::times(a, random_vector<double>(a.rows));
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST_P(ResidentCg, SingularMatrixWithoutASolutionIsNotConverged) {
  const CsrMatrix<double> a = test::path_laplacian(40);
  Options o = options();
  o.rule.max_iterations = 300;
  const Solved solved = solve(a, Array<double>(a.rows, 1.0), o);  // b is the null space
  EXPECT_EQ(solved.outcome.reason, Reason::indefinite_matrix);    // p.Ap = 0
  const Array<double> b = random_vector<double>(a.rows);
  EXPECT_LT(static_cast<int>(solve(a, b, o).outcome.reason), 0);
}

TEST_P(ResidentCg, NanInTheMatrixIsSaidSo) {
  CsrMatrix<double> a = grid_matrix(10);
  a.values[17] = std::numeric_limits<double>::quiet_NaN();
  const Array<double> b = random_vector<double>(a.rows);
  EXPECT_EQ(solve(a, b, options()).outcome.reason, Reason::not_finite);
}

TEST_P(ResidentCg, NanInTheRightHandSideIsSaidSo) {
  const CsrMatrix<double> a = grid_matrix(10);
  Array<double> b = random_vector<double>(a.rows);
  b[3] = std::numeric_limits<double>::infinity();
  const Solved solved = solve(a, b, options());
  EXPECT_EQ(solved.outcome.reason, Reason::not_finite);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST_P(ResidentCg, IterationLimitIsSaidSo) {
  const CsrMatrix<double> a = grid_matrix(30);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.max_iterations = 5;
  EXPECT_EQ(solve(a, b, o).outcome.reason, Reason::too_many_iterations);
  o.rule.limit_is_success = true;
  EXPECT_EQ(solve(a, b, o).outcome.reason, Reason::iterations_done);
}

TEST_P(ResidentCg, DivergenceIsSaidSo) {
  const CsrMatrix<double> a = grid_matrix(30);
  const Array<double> b(a.rows, 1.0);
  Options o = options();
  o.rule.divtol = 1.0000001;  // the norm of CG's residual is not monotone here
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::diverged);
}

TEST_P(ResidentCg, StopsWhenAskedWithTheSolutionSoFar) {
  const CsrMatrix<double> a = grid_matrix(40);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  int asked = 0;
  o.observer.stop = [&] { return ++asked > 40; };
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::interrupted);
  EXPECT_NEAR(test::relative_residual(a, b, solved.x) * test::norm(b), solved.outcome.norm,
              1e-10 * test::norm(b));
  EXPECT_LT(test::relative_residual(a, b, solved.x), 1);
}

TEST_P(ResidentCg, ObeysATestOfTheCallersOwn) {
  const CsrMatrix<double> a = grid_matrix(40);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = options();
  o.rule.judged_by_caller = true;
  o.observer.iteration = [](const State& s, const Iterate&) {
    return s.iterations == 9 ? Reason::atol : Reason::running;
  };
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 9);
}

TEST_P(ResidentCg, BlockJacobiTakesFewerIterationsThanJacobi) {
  const std::int64_t n = 40, size = 8;
  const CsrMatrix<double> a = grid_matrix(n, 0, 50);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  std::vector<std::int32_t> starts{0};  // groups of 8, 3, 5, 8, 3, 5, ...
  for (const int widths[] = {8, 3, 5}; starts.back() < a.rows;)
    starts.push_back(static_cast<std::int32_t>(
        std::min<std::int64_t>(a.rows, starts.back() + widths[(starts.size() - 1) % 3])));
  const auto blocks_of = [&](auto first_of, auto last_of) {
    Array<double> blocks(a.rows * size, 0.0);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        if (a.col_idx[k] >= first_of(i) && a.col_idx[k] < last_of(i))
          blocks[i * size + a.col_idx[k] - first_of(i)] = a.values[k];
    return blocks;
  };
  Options o = options();
  o.preconditioner = jacobi(d);
  const std::int64_t by_jacobi = solve(a, b, o).outcome.iterations;

  const Array<double> natural = blocks_of([&](std::int64_t i) { return i / size * size; },
                                          [&](std::int64_t i) { return i / size * size + size; });
  o.preconditioner = {};
  o.preconditioner.kind = PreconditionerSpec::Kind::blocks;
  o.preconditioner.block_size = size;
  o.preconditioner.blocks = natural;
  const Solved by_blocks = solve(a, b, o);
  EXPECT_EQ(by_blocks.outcome.reason, Reason::rtol);
  EXPECT_LT(by_blocks.outcome.iterations, by_jacobi);
  EXPECT_LE(test::relative_residual(a, b, by_blocks.x), 1.0001e-8);

  const auto group = [&](std::int64_t i) {
    return std::upper_bound(starts.begin(), starts.end(), i) - 1;
  };
  const Array<double> grouped = blocks_of([&](std::int64_t i) { return *group(i); },
                                          [&](std::int64_t i) { return group(i)[1]; });
  o.preconditioner.blocks = grouped;
  o.preconditioner.group_starts = starts;
  const Solved by_groups = solve(a, b, o);
  EXPECT_EQ(by_groups.outcome.reason, Reason::rtol);
  EXPECT_LT(by_groups.outcome.iterations, by_jacobi);
  EXPECT_LE(test::relative_residual(a, b, by_groups.x), 1.0001e-8);
}

TEST_P(ResidentCg, ChebyshevPolynomialTakesFewerIterations) {
  const CsrMatrix<double> a = grid_matrix(60, 0, 10);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const std::int64_t by_jacobi = solve(a, b, o).outcome.iterations;
  o.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  o.preconditioner.degree = 5;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LT(solved.outcome.iterations * 3, by_jacobi);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentPreconditioner, LanczosFindsTheEndsOfTheSpectrum) {
  const std::int64_t n = 30;  // eigenvalues 4 - 2 cos(i h) - 2 cos(j h), D = 4
  const CsrMatrix<double> a = grid_matrix(n);
  const Array<double> d = test::diagonal_of(a);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  PreconditionerSpec spec = jacobi(d);
  spec.kind = PreconditionerSpec::Kind::chebyshev;
  spec.estimation_steps = 60;
  const HostSolver solver(system, Method::cg, Variant::classic, spec);
  const double h = std::acos(-1.0) / (n + 1);
  EXPECT_NEAR(solver.preconditioner().high / 1.1, 1 + std::cos(h), 1e-3);
}

TEST(ResidentPreconditioner, SingularBlockIsAnErrorThatNamesTheRow) {
  const CsrMatrix<double> a = grid_matrix(4);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  Array<double> blocks(a.rows * 2, 1.0);
  blocks[0] = 2;
  PreconditionerSpec spec;
  spec.kind = PreconditionerSpec::Kind::blocks;
  spec.block_size = 2;
  spec.blocks = blocks;
  try {
    HostSolver(system, Method::cg, Variant::classic, spec);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(std::string(error.what()).find("row 2 "), std::string::npos) << error.what();
  }
}

Options bicgstab() {
  Options o;
  o.method = Method::bicgstab;
  return o;
}

TEST(ResidentBicgstab, SolvesANonsymmetricSystem) {
  const CsrMatrix<double> a = grid_matrix(60, 3, 10);
  const Array<double> truth = random_vector<double>(a.rows), d = test::diagonal_of(a);
  const Array<double> b = test::times(a, truth);
  for (const bool preconditioned : {false, true}) {
    Options o = bicgstab();
    if (preconditioned) o.preconditioner = jacobi(d);
    const Solved solved = solve(a, b, o);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
    EXPECT_LT(solved.outcome.iterations, 250);
    EXPECT_EQ(solved.history.size(), static_cast<std::size_t>(solved.outcome.iterations) + 1);
  }
}

TEST(ResidentBicgstab, BlockJacobiTakesFewerIterations) {
  const CsrMatrix<double> a = grid_matrix(40, 5, 50);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options o = bicgstab();
  o.preconditioner = jacobi(d);
  const std::int64_t by_jacobi = solve(a, b, o).outcome.iterations;
  Array<double> blocks(a.rows * 32, 0.0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] / 32 == i / 32) blocks[i * 32 + a.col_idx[k] % 32] = a.values[k];
  o.preconditioner = {};
  o.preconditioner.kind = PreconditionerSpec::Kind::blocks;
  o.preconditioner.block_size = 32;
  o.preconditioner.blocks = blocks;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LT(solved.outcome.iterations, by_jacobi);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentBicgstab, GoesOnWhenTheTrueResidualFallsShort) {
  const CsrMatrix<double> a = grid_matrix(50, 0.5, 1e4);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  Options o = bicgstab();
  o.preconditioner = jacobi(d);
  o.rule.rtol = 2e-14;
  const Solved solved = solve(a, b, o);
  EXPECT_GT(solved.outcome.replacements, 0);
  if (solved.outcome.reason == Reason::rtol) {
    EXPECT_LE(test::relative_residual(a, b, solved.x), 2.1e-14);
  } else {
    EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
    EXPECT_LE(test::relative_residual(a, b, solved.x), 1e-11);
  }
}

TEST(ResidentBicgstab, StartsFromAGuess) {
  const CsrMatrix<double> a = grid_matrix(30, 2);
  const Array<double> b = random_vector<double>(a.rows);
  Options o = bicgstab();
  o.x0 = random_vector<double>(a.rows, 5);
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentBicgstab, ExactSolutionInHalfAStep) {
  const CsrMatrix<double> a = from_dense({{2, 0}, {0, 2}});
  const Solved solved = solve(a, Array<double>{2, 6}, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.x, (Array<double>{1, 3}));
}

TEST(ResidentBicgstab, BreakdownIsSaidSo) {
  const CsrMatrix<double> a = from_dense({{0, 1}, {-1, 0}});  // r0.A r0 = 0
  const Solved solved = solve(a, Array<double>{1, 1}, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::breakdown);
  for (const double value : solved.x) EXPECT_TRUE(std::isfinite(value));
}

// One product, the `broken`th, gives zeros: r0.v = 0 exactly, as an unlucky r0 does.
class BreaksDownOnce : public HostSystem {
 public:
  BreaksDownOnce(HostKernel<double>& kernel, std::int64_t rows, int broken)
      : kernel_(kernel), rows_(rows), broken_(broken) {}
  std::int64_t rows() const override { return rows_; }
  void multiply(std::span<const double> x, std::span<double> y) override {
    kernel_.multiply(x, y, Accumulate::no);
    if (++products_ == broken_) std::fill(y.begin(), y.end(), 0.0);
  }

 private:
  HostKernel<double>& kernel_;
  std::int64_t rows_;
  int broken_, products_ = 0;
};

TEST(ResidentBicgstab, BeginsAnewAfterABreakdown) {
  const CsrMatrix<double> a = grid_matrix(30, 2);
  const Array<double> b = random_vector<double>(a.rows);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  const auto run = [&](int broken) {
    BreaksDownOnce system(*kernel, a.rows, broken);
    HostSolver solver(system, Method::bicgstab, Variant::classic, {});
    Solved solved;
    solved.x = Array<double>(a.rows);
    solved.outcome = solver.solve({b, solved.x, true}, {}, {});
    return solved;
  };
  const Solved unbroken = run(0);
  EXPECT_EQ(unbroken.outcome.reason, Reason::rtol);
  EXPECT_EQ(unbroken.outcome.replacements, 0);
  const Solved late = run(1 + 2 * 8);  // v of iteration 8, after 8 good ones
  EXPECT_EQ(late.outcome.reason, Reason::rtol);
  EXPECT_EQ(late.outcome.replacements, 1);
  EXPECT_LE(test::relative_residual(a, b, late.x), 1.0001e-8);
  const Solved early = run(1 + 2 * 3);  // no five iterations: it would only do so again
  EXPECT_EQ(early.outcome.reason, Reason::breakdown);
  EXPECT_EQ(early.outcome.iterations, 3);
  EXPECT_LT(test::relative_residual(a, b, early.x), 1);
}

TEST(ResidentBicgstab, NegativeDefiniteMatrixIsSolved) {
  CsrMatrix<double> a = grid_matrix(12, 1);
  for (double& value : a.values) value = -value;
  const Array<double> b = random_vector<double>(a.rows);
  const Solved solved = solve(a, b, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentBicgstab, NanInTheRightHandSideIsSaidSo) {
  const CsrMatrix<double> a = grid_matrix(10, 1);
  Array<double> b = random_vector<double>(a.rows);
  b[3] = std::numeric_limits<double>::quiet_NaN();
  const Solved solved = solve(a, b, bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::not_finite);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST(ResidentBicgstab, NanIsSaidSo) {
  CsrMatrix<double> a = grid_matrix(10, 1);
  a.values[40] = std::numeric_limits<double>::quiet_NaN();
  const Array<double> b = random_vector<double>(a.rows);
  EXPECT_EQ(solve(a, b, bicgstab()).outcome.reason, Reason::not_finite);
}

TEST(ResidentBicgstab, ZeroRightHandSideIsConvergedAtOnce) {
  const CsrMatrix<double> a = grid_matrix(10, 1);
  const Solved solved = solve(a, Array<double>(a.rows, 0.0), bicgstab());
  EXPECT_EQ(solved.outcome.reason, Reason::atol);
  EXPECT_EQ(solved.outcome.iterations, 0);
}

TEST(ResidentBicgstab, SingularMatrixDoesNotClaimConvergence) {
  const CsrMatrix<double> a = from_dense({{1, 1, 0}, {1, 1, 0}, {0, 0, 1}});
  const Array<double> b = {1, 2, 1};  // not in the range
  const Solved solved = solve(a, b, bicgstab());
  EXPECT_LT(static_cast<int>(solved.outcome.reason), 0);
}

TEST(ResidentBicgstab, ChebyshevIsRefused) {
  const CsrMatrix<double> a = grid_matrix(10, 1);
  const Array<double> d = test::diagonal_of(a);
  Options o = bicgstab();
  o.preconditioner = jacobi(d);
  o.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  EXPECT_THROW(solve(a, Array<double>(a.rows, 1.0), o), Error);
}

TEST(ResidentEngine, SolvesWithEveryKernel) {
  const CsrMatrix<double> a = grid_matrix(35, 0, 10);
  const Array<double> b = random_vector<double>(a.rows), d = test::diagonal_of(a);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.host_double) continue;
    for (const Method method : {Method::cg, Method::bicgstab}) {
      Options o;
      o.method = method;
      o.kernel = entry.name;
      o.preconditioner = jacobi(d);
      const Solved solved = solve(a, b, o);
      EXPECT_EQ(solved.outcome.reason, Reason::rtol) << entry.name;
      EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8) << entry.name;
    }
  }
}

TEST(ResidentEngine, EmptySystemIsConverged) {
  const CsrMatrix<double> a;
  for (const Method method : {Method::cg, Method::bicgstab}) {
    Options o;
    o.method = method;
    EXPECT_EQ(solve(a, Array<double>{}, o).outcome.reason, Reason::atol);
  }
}

}  // namespace
}  // namespace trireme::resident
