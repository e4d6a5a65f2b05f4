// SPDX-License-Identifier: BSD-3-Clause
// A solver on several processes: each knows the whole system, and judges the x of all.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <limits>
#include <string>

#include "api/caller_matrix.hpp"
#include "api/kernel_search.hpp"
#include "api/work.hpp"
#include "distributed/host_operator.hpp"
#include "sparse/generators.hpp"
#include "systems.hpp"

namespace trireme::api {
namespace {

using test::failure;
using test::grid;
using test::needs_another_method;
using test::random_vector;
using test::System;
using test::system_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int ranks() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// Rows of this rank. Rank 0 has fewer than the others, and with `none_of_last` the last one none.
struct Part {
  std::int64_t first = 0, rows = 0;

  static Part of(std::int64_t all, std::int64_t block = 1, bool none_of_last = false) {
    const int with_rows = none_of_last && ranks() > 1 ? ranks() - 1 : ranks();
    const auto end_of = [&](std::int64_t r) {
      return r >= with_rows ? all : all / block * r * r / (with_rows * with_rows) * block;
    };
    return {end_of(rank()), end_of(rank() + 1) - end_of(rank())};
  }
  System of(const System& whole) const {
    System mine{.rows = rows, .cols = whole.cols};
    const std::int64_t begin = whole.row_ptr[first], end = whole.row_ptr[first + rows];
    for (std::int64_t i = 0; i <= rows; ++i)
      mine.row_ptr.push_back(whole.row_ptr[first + i] - begin);
    mine.col_idx = {whole.col_idx.begin() + begin, whole.col_idx.begin() + end};
    mine.values = {whole.values.begin() + begin, whole.values.begin() + end};
    return mine;
  }
  std::vector<double> of(const std::vector<double>& v) const {
    return {v.begin() + first, v.begin() + first + rows};
  }
  // A vector of all ranks from the parts.
  std::vector<double> whole(const std::vector<double>& mine, std::int64_t all) const {
    std::vector<double> v(static_cast<std::size_t>(all), 0);
    std::copy(mine.begin(), mine.end(), v.begin() + first);
    MPI_Allreduce(MPI_IN_PLACE, v.data(), static_cast<int>(all), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return v;
  }
};

SolverOptions on_all(SolverOptions options) {
  static const MPI_Comm world = MPI_COMM_WORLD;
  options.communicator = &world;
  return options;
}

// Solves and judges, on all ranks.
SolveReport expect_solved(const System& whole, const Part& part, Solver& solver,
                          const std::vector<double>& b, const SolveOptions& how = {}) {
  std::vector<double> x(static_cast<std::size_t>(part.rows), kNaN);
  const SolveReport report = solver.solve(part.of(b), x, how);
  EXPECT_EQ(report.status, Status::converged) << report.text;
  const double residual = whole.relative_residual(b, part.whole(x, whole.rows));
  EXPECT_LE(residual, 1.03 * how.rtol);
  EXPECT_NEAR(report.relative_residual, residual, 0.01 * how.rtol);
  return report;
}

// Whether all ranks have the same number.
bool same_everywhere(double value) {
  double ends[] = {value, -value};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return ends[0] == -ends[1];
}

TEST(ApiRanks, EveryMethodSolvesWithEveryPreconditionerThatItAllows) {
  const System whole = grid(24);
  const std::vector<double> b = random_vector(whole.rows);
  const Part part = Part::of(whole.rows);
  const System mine = part.of(whole);
  for (const std::string& method : methods())
    for (const std::string& preconditioner : preconditioners()) {
      const bool is_symmetric = method == "cg" || method == "minres" || method == "pipelined_cg";
      if (needs_another_method(preconditioner, is_symmetric)) continue;
      SCOPED_TRACE(method + " " + preconditioner);
      Solver solver(mine.arrays(), on_all({.method = method, .preconditioner = preconditioner}));
      EXPECT_EQ(solver.rows(), part.rows);
      EXPECT_EQ(solver.facts().rows, whole.rows);
      EXPECT_EQ(solver.facts().nnz, std::ssize(whole.values));
      const SolveReport report = expect_solved(whole, part, solver, b);
      EXPECT_TRUE(same_everywhere(static_cast<double>(report.iterations)));
      EXPECT_TRUE(same_everywhere(report.relative_residual));
    }
}

TEST(ApiRanks, TakesAsManyIterationsAsOneProcess) {
  const System whole = grid(40);
  const std::vector<double> b = random_vector(whole.rows);
  std::vector<double> x(b.size());
  for (const std::string preconditioner : {"jacobi", "multigrid"}) {
    Solver alone(whole.arrays(),
                 {.method = "cg", .preconditioner = preconditioner, .device = "cpu"});
    const std::int64_t iterations = alone.solve(b, x).iterations;
    const Part part = Part::of(whole.rows);
    Solver solver(part.of(whole).arrays(),
                  on_all({.method = "cg", .preconditioner = preconditioner}));
    EXPECT_NEAR(static_cast<double>(expect_solved(whole, part, solver, b).iterations),
                static_cast<double>(iterations), 1);
  }
}

TEST(ApiRanks, AutoSolvesWhatHasNoRowsOnARank) {
  const Part part = Part::of(900, 1, true);
  const std::vector<double> b = random_vector(900);
  for (const double wind : {0.0, 0.5}) {
    const System whole = grid(30, wind);
    Solver solver(part.of(whole).arrays(), on_all({}));
    expect_solved(whole, part, solver, b);
    std::vector<double> guess = random_vector(900, 3), x = part.of(guess);
    const SolveReport report = solver.solve(part.of(b), x, {.max_iterations = 1, .guess = true});
    EXPECT_EQ(report.status, Status::not_converged);
    EXPECT_NEAR(report.relative_residual, whole.relative_residual(b, part.whole(x, 900)), 1e-6);
    EXPECT_TRUE(same_everywhere(report.relative_residual));
  }
}

TEST(ApiRanks, ScalesAsOneProcessDoes) {
  System whole = grid(20);
  for (std::int64_t i = 0; i < whole.rows; ++i)
    for (std::int64_t k = whole.row_ptr[i]; k < whole.row_ptr[i + 1]; ++k)
      whole.values[k] *= std::ldexp(1.0, static_cast<int>(i % 17 * 3));
  const std::vector<double> b = whole.times(random_vector(whole.rows));
  const Part part = Part::of(whole.rows);
  for (const std::string scaling : {"auto", "diagonal", "ruiz", "matching"}) {
    SCOPED_TRACE(scaling);
    Solver solver(part.of(whole).arrays(), on_all({.scaling = scaling}));
    expect_solved(whole, part, solver, b);
  }
}

TEST(ApiRanks, AnyScaleOfMatrixAndRightHandSide) {
  const Part part = Part::of(400, 1, true);
  for (const double of_matrix : {1e-290, 1.0, 1e290})
    for (const double of_b : {1e-200, 1e200}) {
      System whole = grid(20);
      for (double& value : whole.values) value *= of_matrix;
      std::vector<double> b = random_vector(whole.rows);
      for (double& value : b) value *= of_b;
      Solver solver(part.of(whole).arrays(), on_all({}));
      std::vector<double> x(static_cast<std::size_t>(part.rows), kNaN);
      const SolveReport report = solver.solve(part.of(b), x);
      const double largest = of_b / of_matrix;
      EXPECT_EQ(report.converged(), largest > 1e-300 && largest < 1e300) << report.text;
      const std::vector<double> all = part.whole(x, whole.rows);
      if (report.converged()) {
        EXPECT_LE(whole.relative_residual(b, all), 1.03e-8);
      }
      EXPECT_TRUE(same_everywhere(static_cast<double>(report.status)));
    }
}

TEST(ApiRanks, SolvesManyTogetherAndTakesNewValues) {
  constexpr std::int64_t kWidth = 9;
  System whole = grid(30);
  const Part part = Part::of(whole.rows, 1, true);
  Solver solver(part.of(whole).arrays(), on_all({.method = "cg", .preconditioner = "jacobi"}));
  for (const double factor : {1.0, 3.0}) {
    std::vector<std::vector<double>> columns;
    std::vector<double> b, x(static_cast<std::size_t>(part.rows * kWidth), kNaN);
    for (std::uint32_t j = 0; j < kWidth; ++j) {
      columns.push_back(random_vector(whole.rows, j + 1));
      if (j == 5) std::ranges::fill(columns.back(), 0.0);
      const std::vector<double> mine = part.of(columns.back());
      b.insert(b.end(), mine.begin(), mine.end());
    }
    const std::vector<SolveReport> reports = solver.solve_many(b, x, kWidth);
    for (std::int64_t j = 0; j < kWidth; ++j) {
      EXPECT_TRUE(reports[j].converged()) << reports[j].text;
      const auto begin = x.begin() + j * part.rows;
      const std::vector<double> all = part.whole({begin, begin + part.rows}, whole.rows);
      if (j == 5) {
        EXPECT_EQ(all, columns[j]);
      } else {
        EXPECT_LE(whole.relative_residual(columns[j], all), 1.03e-8);
      }
    }
    for (double& value : whole.values) value *= 3;
    if (factor == 1) solver.update(part.of(whole).values);
  }
}

// By the clock of rank 0, which alone decides.
// By the slowest rank. The last one has no rows.
TEST(ApiRanks, AllChangeToTheSameKernel) {
  const System whole = grid(60);
  const Part part = Part::of(whole.rows, 1, true);
  const System mine = part.of(whole);
  const auto measure = [](Operator& op, int) {
    if (op.kernel() == "albus") return 100.0;
    if (op.kernel() == "sell") return rank() == 0 ? 50.0 : 1.0;
    return rank() == 0 ? 60.0 : 0.5;
  };
  const SolverOptions options = on_all({.method = "cg", .preconditioner = "jacobi"});
  Solver::Work work(std::make_shared<Ranks>(options.communicator), mine.arrays(), options, measure);
  const std::vector<double> b = random_vector(whole.rows), of_b = part.of(b);
  for (int k = 0; k < 3; ++k) {
    std::vector<double> x(static_cast<std::size_t>(part.rows), kNaN);
    const SolveReport report =
        work.solve(std::span(of_b), Vector(std::span(x)), {.solves_after = 10'000'000});
    EXPECT_TRUE(report.converged()) << report.text;
    EXPECT_LE(whole.relative_residual(b, part.whole(x, whole.rows)), 1.03e-8);
  }
  EXPECT_EQ(work.facts().kernel, "sell");
}

// Whatever the clocks of the others say.
TEST(ApiRanks, TheFirstOneDecidesWhatIsTried) {
  const System whole = grid(60);
  const System mine = Part::of(whole.rows).of(whole);
  static const MPI_Comm world = MPI_COMM_WORLD;
  const Ranks all(&world);
  const auto matrix = copied_square(all, mine.arrays());
  HostOperator running(matrix, "albus");
  KernelSearch search(all, matrix, {.name = "albus"});
  for (int k = 0; k < 1000; ++k) search.solve_ends(300, rank() == 0 ? 1e-9 : 1e9);
  bool tried = false;
  const auto found = search.between_solves(running, 1, [&](const KernelChoice& kernel) {
    tried = true;
    return std::make_shared<HostOperator>(matrix, kernel.name);
  });
  EXPECT_FALSE(tried);
  EXPECT_EQ(found, nullptr);
}

TEST(ApiRanks, AllChangeToMultigridWhereThatPays) {
  const System whole = grid(150);
  const Part part = Part::of(whole.rows, 1, true);
  const std::vector<double> b = random_vector(whole.rows);
  bool changed = false;
  for (int attempt = 0; attempt < 20 && !changed; ++attempt) {
    Solver solver(part.of(whole).arrays(), on_all({.method = "cg"}));
    for (int solve = 0; solve < 3 && !changed; ++solve) {
      const SolveReport report =
          expect_solved(whole, part, solver, b, {.rtol = 1e-10, .solves_after = 1000});
      changed = report.preconditioner == "multigrid";
      EXPECT_TRUE(same_everywhere(changed ? 1 : 0));
      EXPECT_TRUE(same_everywhere(static_cast<double>(report.iterations)));
    }
  }
  EXPECT_TRUE(changed);
}

// D G D with D from 1 to 2^-300: the vectors of the loop get a power of two, which the parts of
// them would not agree on. In the norm of the caller no x is a solution, so that what the loop has
// reached is seen by what it shows.
TEST(ApiRanks, ScaledVectorsHaveOneExponent) {
  System whole = grid(12);
  const auto size_of = [](std::int64_t i) { return i < 72 ? 0 : -300; };
  for (std::int64_t i = 0; i < whole.rows; ++i)
    for (std::int64_t k = whole.row_ptr[i]; k < whole.row_ptr[i + 1]; ++k)
      whole.values[k] = std::ldexp(whole.values[k], size_of(i) + size_of(whole.col_idx[k]));
  const std::vector<double> b = random_vector(whole.rows);
  const Part all{.first = 0, .rows = whole.rows}, part = Part::of(whole.rows);
  const auto last_shown = [&](const Part& mine, SolverOptions options) {
    options.method = "cg";
    options.preconditioner = "none";
    options.device = "cpu";
    options.scaling = "diagonal";
    Solver solver(mine.of(whole).arrays(), options);
    std::vector<double> x(static_cast<std::size_t>(mine.rows)), shown(x.size());
    SolveOptions how{.in_every_row = false, .max_iterations = 20};
    how.on_iteration = [&](const Iteration& now) {
      if (now.number == 20) now.copy_solution(shown);
      return false;
    };
    solver.solve(mine.of(b), x, how);
    return shown;
  };
  const std::vector<double> expected = last_shown(all, {});
  const std::vector<double> found = part.whole(last_shown(part, on_all({})), whole.rows);
  for (std::size_t i = 0; i < b.size(); ++i) {
    EXPECT_NE(expected[i], 0) << i;
    ASSERT_NEAR(found[i], expected[i], 1e-6 * std::abs(expected[i])) << i;
  }
}

// bicgstab on scaled rows claims some columns of a block too early.
TEST(ApiRanks, ColumnsThatABlockDoesNotSolveAreSolvedAlone) {
  System whole = grid(20, 0.3);
  for (std::int64_t i = 0; i < whole.rows; ++i)
    for (std::int64_t k = whole.row_ptr[i]; k < whole.row_ptr[i + 1]; ++k)
      whole.values[k] *= std::pow(10.0, static_cast<double>(i % 9) - 4);
  constexpr std::int64_t kWidth = 16;
  const Part part = Part::of(whole.rows, 1, true);
  std::vector<std::vector<double>> columns;
  std::vector<double> b, x(static_cast<std::size_t>(part.rows * kWidth), kNaN);
  for (std::uint32_t j = 0; j < kWidth; ++j) {
    columns.push_back(whole.times(random_vector(whole.rows, j + 1)));
    const std::vector<double> mine = part.of(columns.back());
    b.insert(b.end(), mine.begin(), mine.end());
  }
  Solver solver(part.of(whole).arrays(),
                on_all({.method = "bicgstab", .preconditioner = "jacobi", .scaling = "ruiz"}));
  const std::vector<SolveReport> reports = solver.solve_many(b, x, kWidth, {.rtol = 1e-9});
  std::int64_t alone = 0;
  for (std::int64_t j = 0; j < kWidth; ++j) {
    EXPECT_TRUE(reports[j].converged()) << reports[j].text;
    const auto begin = x.begin() + j * part.rows;
    const std::vector<double> all = part.whole({begin, begin + part.rows}, whole.rows);
    EXPECT_LE(whole.relative_residual(columns[j], all), 1.03e-9);
    alone += reports[j].attempts.empty() ? 0 : 1;
  }
  EXPECT_GT(alone, 1) << "the block has solved all of its columns";
  EXPECT_LT(alone, kWidth) << "no column was solved in a block";
}

TEST(ApiRanks, OneRankEndsTheSolveOfAll) {
  const System whole = grid(60);
  const Part part = Part::of(whole.rows);
  const std::vector<double> b = random_vector(whole.rows);
  const int last = ranks() - 1;
  std::vector<double> x(static_cast<std::size_t>(part.rows));
  for (const bool by_stop : {false, true}) {
    Solver solver(part.of(whole).arrays(), on_all({.method = "cg", .preconditioner = "jacobi"}));
    std::int64_t seen = 0;
    SolveOptions how{.rtol = 1e-12};
    how.on_iteration = [&](const Iteration& now) {
      seen = now.number;
      return !by_stop && rank() == last && now.number == 7;
    };
    how.stop = [&] { return by_stop && rank() == last && seen >= 7; };
    const SolveReport report = solver.solve(part.of(b), x, how);
    EXPECT_EQ(report.status, Status::interrupted) << report.text;
    EXPECT_GE(report.iterations, 7);
    EXPECT_LE(report.iterations, 9);
    EXPECT_TRUE(same_everywhere(static_cast<double>(report.iterations)));
    EXPECT_NEAR(report.relative_residual, whole.relative_residual(b, part.whole(x, whole.rows)),
                1e-10);
    how.on_iteration = nullptr;
    how.stop = nullptr;
    how.rtol = 1e-8;
    expect_solved(whole, part, solver, b, how);
  }
}

TEST(ApiRanks, ShowsSolutions) {
  const System whole = grid(20);
  const Part part = Part::of(whole.rows, 1, true);
  const std::vector<double> b = random_vector(whole.rows);
  Solver solver(part.of(whole).arrays(),
                on_all({.method = "cg", .preconditioner = "jacobi", .scaling = "ruiz"}));
  std::int64_t shown = 0;
  SolveOptions how;
  how.on_iteration = [&](const Iteration& now) {
    if (!now.copy_solution) return false;
    std::vector<double> x(static_cast<std::size_t>(part.rows));
    now.copy_solution(x);
    EXPECT_LE(whole.relative_residual(b, part.whole(x, whole.rows)), 30 * now.relative_norm);
    ++shown;
    return false;
  };
  const SolveReport report = expect_solved(whole, part, solver, b, how);
  EXPECT_GE(shown, report.iterations);

  // Between its restarts gmres has no x to show, also on the rank without rows.
  Solver restarts(part.of(whole).arrays(),
                  on_all({.method = "gmres", .preconditioner = "jacobi", .scaling = "ruiz"}));
  how.on_iteration = [](const Iteration& now) {
    EXPECT_TRUE(same_everywhere(now.copy_solution ? 1 : 0)) << now.number;
    return false;
  };
  expect_solved(whole, part, restarts, b, how);
}

TEST(ApiRanks, ModesAreThoseOfTheWholeBody) {
  const GenerateSpec elasticity{.kind = "elasticity3d", .n = 10};
  const std::int64_t rows = generator_shape(elasticity).rows;
  const CsrMatrix<double> matrix = generate(elasticity, 0, rows).local;
  const System whole{.rows = rows,
                     .cols = rows,
                     .row_ptr = {matrix.row_ptr.begin(), matrix.row_ptr.end()},
                     .col_idx = {matrix.col_idx.begin(), matrix.col_idx.end()},
                     .values = {matrix.values.begin(), matrix.values.end()}};
  const std::vector<Array<double>> axes = generator_coordinates(elasticity, 0, rows / 3);
  std::vector<double> coordinates;
  for (std::int64_t node = 0; node < rows / 3; ++node)
    for (const Array<double>& axis : axes) coordinates.push_back(axis[node]);
  const std::vector<double> b = random_vector(rows);
  std::vector<double> x(b.size());
  SolverOptions options{.method = "cg", .preconditioner = "multigrid", .device = "cpu"};
  options.block_size = options.dimensions = 3;
  options.coordinates = coordinates;
  Solver alone(whole.arrays(), options);
  const std::int64_t iterations = alone.solve(b, x).iterations;

  const Part part = Part::of(rows, 3, true);
  options.coordinates = part.of(coordinates);
  Solver solver(part.of(whole).arrays(), on_all(options));
  EXPECT_NEAR(static_cast<double>(expect_solved(whole, part, solver, b).iterations),
              static_cast<double>(iterations), 1);

  std::vector<double> z(static_cast<std::size_t>(part.rows));
  alone.precondition(b, x);
  solver.precondition(part.of(b), z);
  const std::vector<double> all = part.whole(z, rows);
  double largest = 0;
  for (const double value : x) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(all[i], x[i], 1e-4 * largest) << i;
}

TEST(ApiRanks, AppliesItsPreconditioner) {
  const System whole = grid(30);
  const std::vector<double> r = random_vector(whole.rows);
  for (const std::string preconditioner : {"multigrid", "jacobi", "none"}) {
    SCOPED_TRACE(preconditioner);
    const SolverOptions options{.method = "cg", .preconditioner = preconditioner, .device = "cpu"};
    Solver alone(whole.arrays(), options);
    std::vector<double> expected(r.size());
    alone.precondition(r, expected);
    const Part part = Part::of(whole.rows);
    Solver solver(part.of(whole).arrays(), on_all(options));
    std::vector<double> z(static_cast<std::size_t>(part.rows));
    solver.precondition(part.of(r), z);
    const std::vector<double> all = part.whole(z, whole.rows);
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_NEAR(all[i], expected[i], 0.02 * largest) << i;
  }
}

TEST(ApiRanks, WhatIsWrongOnOneRankIsAFailureOfAll) {
  const System whole = grid(12);
  const Part part = Part::of(whole.rows);
  const System mine = part.of(whole);
  const bool here = rank() == ranks() - 1;
  const std::vector<double> b = part.of(random_vector(whole.rows));
  std::vector<double> x(b.size());
  const std::string name = ranks() > 1 ? "rank " + std::to_string(ranks() - 1) + ": " : "";
  const auto expect = [&](Failure::Kind kind, const std::string& words, const auto& work) {
    const std::string line = failure(work, kind);
    EXPECT_NE(line.find(name + words), std::string::npos) << line;
  };

  System wrong = mine;
  if (here) wrong.values[3] = kNaN;
  expect(Failure::Kind::input, "values[3] = nan",
         [&] { Solver solver(wrong.arrays(), on_all({})); });
  wrong = mine;
  if (here) wrong.col_idx[2] = 144;
  expect(Failure::Kind::input, "column 144 in row 0",
         [&] { Solver solver(wrong.arrays(), on_all({})); });

  Solver solver(mine.arrays(), on_all({}));
  std::vector<double> bad = b;
  if (here) bad[1] = kNaN;
  expect(Failure::Kind::input, "b[1] = nan", [&] { solver.solve(bad, x); });
  bad = b;
  if (here) bad.pop_back();
  expect(Failure::Kind::usage, "b has ", [&] { solver.solve(bad, x); });
  std::vector<double> values = mine.values;
  if (here) values.pop_back();
  expect(Failure::Kind::usage, "values has ", [&] { solver.update(values); });
  EXPECT_TRUE(solver.solve(b, x).converged());
  if (ranks() == 1) return;
  expect(Failure::Kind::usage, "its options differ from those of rank 0: method minres",
         [&] { Solver other(mine.arrays(), on_all({.method = here ? "minres" : "cg"})); });
  expect(Failure::Kind::usage, "its options differ from those of rank 0: rtol 1e-06",
         [&] { solver.solve(b, x, {.rtol = here ? 1e-6 : 1e-8}); });
  EXPECT_NE(failure([&] { Solver other(mine.arrays(), on_all({.device = "cuda"})); },
                    Failure::Kind::usage)
                .find("works on CPUs"),
            std::string::npos);
  System narrow = mine;
  narrow.cols = 145;
  EXPECT_NE(failure([&] { Solver other(narrow.arrays(), on_all({})); }, Failure::Kind::input)
                .find("the matrix is 144 x 145"),
            std::string::npos);
}

}  // namespace
}  // namespace trireme::api
