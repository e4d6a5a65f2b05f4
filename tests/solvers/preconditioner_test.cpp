// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners inside the resident loops, on the host: the iterations that they save, and the
// input that they refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "solvers/cg_fixture.hpp"
#include "solvers/gauss_seidel.hpp"
#include "solvers/preconditioners/lanczos_bounds.hpp"

namespace trireme::solvers {
namespace {

using namespace test;

TEST_P(ResidentCg, BlockJacobiTakesFewerIterationsThanJacobi) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 50);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const std::int64_t by_jacobi = solve(a, b, o).outcome.iterations;
  const std::vector<std::int32_t> groups = row_groups(a.rows, {8, 3, 5});
  for (const bool natural : {true, false}) {
    SCOPED_TRACE(natural ? "blocks of 8" : "groups of 8, 3, 5, 8, ..");
    const BlocksOf blocks(a, 8, natural ? std::span<const std::int32_t>() : groups);
    o.preconditioner = blocks.spec;
    const Solved by_blocks = solve(a, b, o);
    EXPECT_EQ(by_blocks.outcome.reason, Reason::rtol);
    EXPECT_LT(by_blocks.outcome.iterations, by_jacobi);
    EXPECT_LE(relative_residual(a, b, by_blocks.x), 1.0001e-8);
  }
}

TEST_P(ResidentCg, ChebyshevPolynomialTakesFewerIterations) {
  const CsrMatrix<double> a = grid_matrix(60, 0, 10);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const std::int64_t by_jacobi = solve(a, b, o).outcome.iterations;
  o.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  o.preconditioner.degree = 5;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LT(solved.outcome.iterations * 3, by_jacobi);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentBicgstab, BlockJacobiTakesFewerIterations) {
  const CsrMatrix<double> a = grid_matrix(40, 5, 50);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o;
  o.method = Method::bicgstab;
  o.preconditioner = jacobi(d);
  const std::int64_t by_jacobi = solve(a, b, o).outcome.iterations;
  const BlocksOf blocks(a, 32);
  o.preconditioner = blocks.spec;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LT(solved.outcome.iterations, by_jacobi);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

TEST(ResidentBicgstab, ChebyshevIsRefused) {
  const CsrMatrix<double> a = grid_matrix(10, 1);
  const Array<double> d = diagonal_of(a);
  Options o;
  o.method = Method::bicgstab;
  o.preconditioner = jacobi(d);
  o.preconditioner.kind = PreconditionerSpec::Kind::chebyshev;
  EXPECT_THROW(solve(a, Array<double>(a.rows, 1.0), o), Error);
}

TEST_P(ResidentCg, AGivenPreconditionerTakesFewerIterationsThanJacobi) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 10);
  const Array<double> b = random_vector<double>(a.rows), d = diagonal_of(a);
  Options o = options();
  o.preconditioner = jacobi(d);
  const std::int64_t by_jacobi = solve(a, b, o).outcome.iterations;
  GaussSeidel given(a);
  o.preconditioner.kind = PreconditionerSpec::Kind::given;
  o.preconditioner.given = &given;
  const Solved solved = solve(a, b, o);
  EXPECT_EQ(solved.outcome.reason, Reason::rtol);
  EXPECT_LT(solved.outcome.iterations * 3, by_jacobi * 2);
  EXPECT_GE(given.applications, solved.outcome.iterations);
  EXPECT_LE(relative_residual(a, b, solved.x), 1.0001e-8);
}

// Neither the last residual, which ends the solve, nor the claim's confirmation needs the
// operation.
TEST(GivenPreconditioner, IsAppliedOncePerIterationOfCg) {
  const CsrMatrix<double> a = grid_matrix(20, 0, 10);
  const Array<double> b = random_vector<double>(a.rows);
  for (const NormKind norm : {NormKind::unpreconditioned, NormKind::preconditioned}) {
    GaussSeidel given(a);
    Options o;
    o.variant = Variant::classic;
    o.rule.norm = norm;
    o.preconditioner.kind = PreconditionerSpec::Kind::given;
    o.preconditioner.given = &given;
    const Solved solved = solve(a, b, o);
    EXPECT_EQ(solved.outcome.reason, Reason::rtol);
    const bool spares = norm == NormKind::unpreconditioned;
    EXPECT_EQ(given.applications, solved.outcome.iterations + (spares ? 0 : 2));
    EXPECT_LE(relative_residual(a, b, solved.x), spares ? 1.0001e-8 : 1e-5);
  }
}

// The solver calls the operation that it is given, which takes new values by itself.
TEST(ResidentPreconditioner, AGivenOneIsAskedAfterARenewalToo) {
  CsrMatrix<double> a = grid_matrix(20, 0, 10);
  const Array<double> b = random_vector<double>(a.rows);
  GaussSeidel given(a);
  PreconditionerSpec spec;
  spec.kind = PreconditionerSpec::Kind::given;
  spec.given = &given;
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostSolver solver(system, Method::cg, Variant::classic, spec);
  const Solved first = solve_by(solver, b, {});
  for (double& value : a.values) value *= 4;
  kernel->update_values(a.values);
  given.renew();
  solver.renew(spec);
  const Solved second = solve_by(solver, b, {});
  EXPECT_EQ(second.outcome.iterations, first.outcome.iterations);
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_EQ(4 * second.x[i], first.x[i]);
}

TEST(ResidentPreconditioner, AGivenOneMustBeThere) {
  const CsrMatrix<double> a = grid_matrix(4);
  Options o;
  o.preconditioner.kind = PreconditionerSpec::Kind::given;
  EXPECT_THROW(solve(a, Array<double>(a.rows, 1.0), o), Error);
}

TEST(ResidentPreconditioner, ARowsRandomNumberIsTheSameInEveryPartition) {
  const Array<double> whole = random_right_hand_side(0, 100);
  const Array<double> part = random_right_hand_side(60, 40);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 60));
  EXPECT_NE(whole[0], whole[60]);
}

TEST(ResidentPreconditioner, LanczosFindsTheEndsOfTheSpectrum) {
  const std::int64_t n = 30;  // eigenvalues 4 - 2 cos(i h) - 2 cos(j h), D = 4
  const CsrMatrix<double> a = grid_matrix(n);
  const Array<double> d = diagonal_of(a);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  PreconditionerSpec spec = jacobi(d);
  spec.kind = PreconditionerSpec::Kind::chebyshev;
  spec.estimation_steps = 60;
  const HostSolver solver(system, Method::cg, Variant::classic, spec);
  const double h = std::acos(-1.0) / (n + 1);
  EXPECT_NEAR(std::get<Chebyshev>(solver.preconditioner()).high / 1.1, 1 + std::cos(h), 1e-3);
}

// The bisection begins at 2, where the first pivot is zero.
TEST(ResidentPreconditioner, AZeroPivotHidesNoEigenvalue) {
  LanczosBounds bounds;
  for (const double eigenvalue : {2, 1, 3}) bounds.add(1 / eigenvalue, 0);
  EXPECT_NEAR(bounds.smallest(), 1, 1e-12);
  EXPECT_NEAR(bounds.largest(), 3, 1e-12);
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

}  // namespace
}  // namespace trireme::solvers
