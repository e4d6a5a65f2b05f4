// SPDX-License-Identifier: BSD-3-Clause
// The block solver on the host: systems of several kinds, layouts, what observers see, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "solvers/block_solves.hpp"
#include "sparse/permuted.hpp"
#include "support/limited_memory.hpp"
#include "support/watched.hpp"
#include "support/with_threads.hpp"

namespace trireme::solvers {
namespace {

using test::expect_solved;
using test::from_dense;
using test::grid_matrix;
using test::Options;
using test::random_columns;
using test::relative_residual;
using test::solve_block;
using test::Solved;

TEST(BlockSolver, SolvesWithEveryKernel) {
  const CsrMatrix<double> a = grid_matrix(25, 0, 10);
  const Array<double> d = test::diagonal_of(a);
  const std::vector<Array<double>> b = random_columns(a.rows, 11);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.host_double) continue;
    SCOPED_TRACE(std::string(entry.name));
    Options o;
    o.kernel = entry.name;
    o.preconditioner = test::jacobi(d);
    expect_solved(a, b, solve_block(a, b, o));
  }
}

TEST(BlockSolver, MinresSolvesIndefiniteSystems) {
  CsrMatrix<double> a = grid_matrix(24);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] == i) a.values[k] -= 1;
  Options o;
  o.method = Method::minres;
  const std::vector<Array<double>> b = random_columns(a.rows, 10);
  expect_solved(a, b, solve_block(a, b, o));
}

TEST(BlockSolver, BicgstabSolvesNonsymmetricSystems) {
  const CsrMatrix<double> a = test::irregular_matrix(900, 0.3);
  const Array<double> d = test::diagonal_of(a);
  Options o;
  o.method = Method::bicgstab;
  o.preconditioner = test::jacobi(d);
  const std::vector<Array<double>> b = random_columns(a.rows, 10);
  expect_solved(a, b, solve_block(a, b, o));
}

// diag(1, ..., 40): a right-hand side of m unit vectors takes m iterations.
TEST(BlockSolver, EachColumnTakesItsOwnNumberOfIterations) {
  std::vector<std::vector<double>> dense(40, std::vector<double>(40, 0.0));
  for (std::size_t i = 0; i < 40; ++i) dense[i][i] = static_cast<double>(i + 1);
  const CsrMatrix<double> a = from_dense(dense);
  std::vector<Array<double>> b(12, Array<double>(40, 0.0));
  for (std::size_t j = 0; j < b.size(); ++j)
    for (std::size_t m = 0; m < j * 7 % 12 + 1; ++m) b[j][3 * m] = 1;
  Options o;
  o.rule.rtol = 1e-12;
  for (const Method method : {Method::cg, Method::minres}) {
    o.method = method;
    const std::vector<Solved> solved = solve_block(a, b, o);
    for (std::size_t j = 0; j < b.size(); ++j) {
      EXPECT_EQ(solved[j].outcome.iterations, static_cast<std::int64_t>(j * 7 % 12 + 1));
      EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.0001e-12);
    }
  }
}

TEST(BlockSolver, OneColumnMayBeTheOnlyOneThatTheMatrixIsIndefiniteFor) {
  const CsrMatrix<double> a = from_dense({{1, 0, 0}, {0, 2, 0}, {0, 0, -1}});
  const std::vector<Array<double>> b{{1, 1, 0}, {1, 1, 3}, {0, 1, 0}, {1, 2, 0}};
  const std::vector<Solved> solved = solve_block(a, b);
  for (const std::size_t j : {0, 2, 3}) EXPECT_GT(static_cast<int>(solved[j].outcome.reason), 0);
  EXPECT_EQ(solved[1].outcome.reason, Reason::indefinite_matrix);
  EXPECT_EQ(solved[1].x, test::solve(a, b[1]).x) << "the rest of the iteration counts for nothing";
  EXPECT_EQ(solved[2].x, (Array<double>{0, 0.5, 0}));
}

TEST(BlockSolver, BreakdownOfOneColumnLeavesTheOthersAlone) {
  // r0.A r0 is 0 for b = (1, 1, 0), not for the others.
  const CsrMatrix<double> a = from_dense({{0, 1, 0}, {-1, 0, 0}, {0, 0, 2}});
  Options o;
  o.method = Method::bicgstab;
  const std::vector<Solved> solved = solve_block(a, {{0, 0, 2}, {1, 1, 0}, {0, 0, 4}}, o);
  EXPECT_GT(static_cast<int>(solved[0].outcome.reason), 0);
  EXPECT_EQ(solved[1].outcome.reason, Reason::breakdown);
  EXPECT_GT(static_cast<int>(solved[2].outcome.reason), 0);
  EXPECT_EQ(solved[0].x, (Array<double>{0, 0, 1}));
  EXPECT_EQ(solved[2].x, (Array<double>{0, 0, 2}));
}

TEST(BlockSolver, ColumnsForWhichFp32IsTooCoarseGoOnInFp64) {
  const CsrMatrix<double> a = test::pairs_that_fp32_merges();
  const Array<float> defect = test::row_defect(a);
  const auto exact = build_host_kernel<double>("csr", a.view());
  const auto rounded = build_mixed_host_kernel("csr", a.view());
  HostKernelSystem system(*rounded, a.rows, exact.get(), defect);
  std::vector<Array<double>> b = random_columns(a.rows, 6);
  for (const std::size_t j : {1, 4}) b[j].assign(b[j].size(), 1.0);  // 1 / (2 - 1e-9) of it
  Options o;
  o.rule.rtol = 1e-6;
  const std::vector<Solved> solved = solve_block(system, b, o);
  for (std::size_t j = 0; j < b.size(); ++j) {
    EXPECT_EQ(solved[j].outcome.reason, Reason::rtol);
    EXPECT_LE(relative_residual(a, b[j], solved[j].x), 1.01e-6);
    EXPECT_EQ(solved[j].outcome.exact_from >= 0, j != 1 && j != 4);
    EXPECT_EQ(std::ssize(solved[j].history), solved[j].outcome.iterations + 1);
  }
}

// Vectors of any layout, with numbers between them that must stay as they are.
TEST(BlockSolver, VectorsMayHaveAnyLayout) {
  const CsrMatrix<double> a = grid_matrix(12);
  const std::vector<Array<double>> b = random_columns(a.rows, 5);
  const std::vector<Solved> expected = solve_block(a, b);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostBlockSolver solver(system, Method::cg, Variant::automatic, {});
  const std::pair<std::int64_t, std::int64_t> strides[] = {
      {5, 1}, {9, 1}, {1, a.rows}, {1, a.rows + 3}, {2, 2 * a.rows}, {10, 2}};
  for (const auto& [row_stride, vector_stride] : strides) {
    SCOPED_TRACE(row_stride);
    Array<double> all_b(12 * a.rows, -7.0), all_x(12 * a.rows, -7.0);
    const MultiVector<double> in{all_b.data(), a.rows, 5, row_stride, vector_stride};
    const MultiVector<double> out{all_x.data(), a.rows, 5, row_stride, vector_stride};
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i) in(i, j) = b[j][i];
    solver.solve(in, out, true, {});
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t i = 0; i < a.rows; ++i)
        EXPECT_EQ(std::exchange(out(i, j), -7.0), expected[j].x[i]);
    EXPECT_EQ(std::ranges::count(all_x, -7.0), std::ssize(all_x)) << "written between the vectors";
  }
}

// A system in an order of its own.
class OrderedSystem : public HostKernelSystem {
 public:
  OrderedSystem(HostKernel<double>& kernel, std::span<const std::int32_t> order)
      : HostKernelSystem(kernel, std::ssize(order)), order_(order) {}
  std::span<const std::int32_t> order() const override { return order_; }

 private:
  std::span<const std::int32_t> order_;
};

TEST(BlockSolver, TheRowOrderOfASystemIsHidden) {
  const CsrMatrix<double> a = test::irregular_matrix(400);
  std::vector<std::int32_t> order(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) order[i] = static_cast<std::int32_t>(i * 7 % a.rows);
  const PermutedCsr permuted = permuted_square(a.view(), order);
  const auto kernel = build_host_kernel<double>("csr", permuted.matrix.view());
  OrderedSystem system(*kernel, order);
  const Array<double> d = test::diagonal_of(a);
  Options o;
  o.preconditioner = test::jacobi(d);
  const std::vector<Array<double>> b = random_columns(a.rows, 6);
  expect_solved(a, b, solve_block(system, b, o));
  const std::vector<Array<double>> x0 = random_columns(a.rows, 6, 77);
  expect_solved(a, b, solve_block(system, b, o, x0));
}

TEST(BlockSolver, AnObserverEndsItsOwnColumn) {
  const CsrMatrix<double> a = grid_matrix(16);
  const std::vector<Array<double>> b = random_columns(a.rows, 3);
  Array<double> all_b(3 * a.rows), all_x(3 * a.rows);
  const auto in = side_by_side(all_b.data(), a.rows, 3);
  for (std::int64_t j = 0; j < 3; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) in(i, j) = b[j][i];
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostBlockSolver solver(system, Method::cg, Variant::automatic, {});
  std::int64_t seen = 0;
  std::vector<IterationObserver> observers(3);
  observers[0].iteration = [](const State& s, const Iterate& iterate) {
    EXPECT_TRUE(iterate.x.empty());
    return s.iterations == 7 ? Reason::atol : Reason::running;
  };
  observers[2].iteration = [&](const State& s, const Iterate&) {
    seen = s.iterations;
    return Reason::running;
  };
  observers[2].stop = [&] { return seen >= 4; };
  const auto results = solver.solve(in, side_by_side(all_x.data(), a.rows, 3), true, {}, observers);
  EXPECT_EQ(results[1].reason, Reason::rtol);
  EXPECT_EQ(results[2].reason, Reason::interrupted);
  EXPECT_EQ(results[2].iterations, seen);
  Array<double> x(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) x[i] = all_x[3 * i + 2];
  EXPECT_LT(relative_residual(a, b[2], x), 2) << "x is the iterate so far";
}

TEST(BlockSolver, EachColumnMayHaveAnAbsoluteTolerance) {
  const CsrMatrix<double> a = grid_matrix(16);
  const Array<double> b = test::random_vector<double>(a.rows);
  Array<double> all_b(3 * a.rows), all_x(3 * a.rows), x(a.rows);
  for (std::int64_t i = 0; i < 3 * a.rows; ++i) all_b[i] = b[i / 3];
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostBlockSolver solver(system, Method::cg, Variant::automatic, {});
  const double atol[] = {1e-3, 1e-50, 1e-1};
  const auto results = solver.solve(side_by_side<const double>(all_b.data(), a.rows, 3),
                                    side_by_side(all_x.data(), a.rows, 3), true, {}, {}, atol);
  EXPECT_EQ(results[0].reason, Reason::atol);
  EXPECT_EQ(results[1].reason, Reason::rtol);
  EXPECT_LT(results[2].iterations, results[0].iterations);
  EXPECT_LT(results[0].iterations, results[1].iterations);
  for (std::int64_t i = 0; i < a.rows; ++i) x[i] = all_x[3 * i];
  EXPECT_LE(relative_residual(a, b, x) * test::norm(b), 1.0001e-3);
}

TEST(BlockSolver, ItsMemoryServesNarrowerAndWiderSolves) {
  const CsrMatrix<double> a = grid_matrix(16);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  const Array<double> d = test::diagonal_of(a);
  HostBlockSolver solver(system, Method::cg, Variant::automatic, test::jacobi(d));
  for (const std::int64_t width : {3, 8, 1, 5, 9}) {
    const std::vector<Array<double>> b = random_columns(a.rows, width);
    expect_solved(a, b, solve_block(solver, b, Options{}));
  }
  EXPECT_TRUE(solver.solve({nullptr, a.rows}, {nullptr, a.rows}, true, {}).empty());
  EXPECT_GT(solver.bytes(8), 8 * 6 * a.rows * 8);
  EXPECT_LT(solver.bytes(8), 8 * 10 * a.rows * 8);
}

TEST(BlockSolver, RenewTakesThePreconditionerOfNewValues) {
  CsrMatrix<double> a = grid_matrix(16, 0, 100);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  const Array<double> ones(a.rows, 1.0), d = test::diagonal_of(a);
  HostBlockSolver solver(system, Method::cg, Variant::automatic, test::jacobi(ones));
  const std::vector<Array<double>> b = random_columns(a.rows, 4);
  const std::int64_t before = solve_block(solver, b, Options{})[0].outcome.iterations;
  solver.renew(test::jacobi(d));
  const std::vector<Solved> solved = solve_block(solver, b, Options{});
  expect_solved(a, b, solved);
  EXPECT_LT(solved[0].outcome.iterations, before);
}

TEST(BlockSolver, RefusesWhatDoesNotFitTogether) {
  const CsrMatrix<double> a = grid_matrix(4);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostBlockSolver solver(system, Method::cg, Variant::automatic, {});
  Array<double> b(64), x(64);
  const auto four = side_by_side(b.data(), a.rows, 4);
  EXPECT_THROW(solver.solve(four, side_by_side(x.data(), a.rows, 3), true, {}), Error);
  EXPECT_THROW(solver.solve(four, side_by_side(x.data(), 8, 4), true, {}), Error);
  const std::vector<IterationObserver> two(2);
  EXPECT_THROW(solver.solve(four, side_by_side(x.data(), a.rows, 4), true, {}, two), Error);
  const double atol[] = {1, 2};
  EXPECT_THROW(solver.solve(four, side_by_side(x.data(), a.rows, 4), true, {}, {}, atol), Error);
}

TEST(BlockSolver, SaysThatTheMemoryDoesNotSuffice) {
  if (test::watched())
    GTEST_SKIP() << "the address sanitizer ends a program that asks for too much memory";
  const CsrMatrix<double> a = grid_matrix(200);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostBlockSolver solver(system, Method::cg, Variant::automatic, {});
  const std::int64_t width = 2000;
  double number = 1;  // which is not read, because the memory is asked for first
  const MultiVector<double> wide{&number, a.rows, width, 1, 1};
  const test::LimitedMemory limit(std::size_t{1} << 30);
  EXPECT_GT(solver.bytes(width), std::int64_t{1} << 30);
  try {
    solver.solve(wide, wide, true, {});
    FAIL() << "no memory holds this block";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::resource);
    EXPECT_NE(std::string(e.what()).find("2000 right-hand sides at once"), std::string::npos);
  }
}

}  // namespace
}  // namespace trireme::solvers
