// SPDX-License-Identifier: BSD-3-Clause
// Method direct: complete factors and refinement, and what it says where there are none.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "petsc/factors/direct_forecast.hpp"
#include "petsc/factors/package.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"
#include "solvers/systems.hpp"
#include "support/petsc_environment.hpp"
#include "support/petsc_option.hpp"

namespace trireme {
namespace {

// Large entries beside the diagonal, which is zero.
CsrMatrix<double> shifted_matrix(std::int64_t n) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  const Array<double> values = test::random_vector<double>(4 * n, 3);
  for (std::int64_t i = 0; i < n; ++i) {
    std::map<std::int64_t, double> row = {{(i + 1) % n, 5 + values[4 * i]}};
    for (std::int64_t k = 1; k < 4; ++k) row.try_emplace((i * 7 + 11 * k) % n, values[4 * i + k]);
    row.erase(i);
    for (const auto& [column, value] : row) {
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(value);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

// Free boundaries: the matrix maps the constant vector on the first `rows` rows to zero.
CsrMatrix<double> chain(std::int64_t rows) {
  std::vector<std::vector<double>> dense(rows, std::vector<double>(rows, 0.0));
  for (std::int64_t i = 0; i + 1 < rows; ++i) {
    dense[i][i] += 1;
    dense[i + 1][i + 1] += 1;
    dense[i][i + 1] = dense[i + 1][i] = -1;
  }
  return test::from_dense(dense);
}

class DirectMethod : public testing::Test {
 protected:
  DirectMethod() { spec.method = kDirect; }

  void make(const CsrMatrix<double>& of, test::Cut cut = test::Cut::by_nonzeros) {
    matrix = test::matrix_on_ranks(MPI_COMM_WORLD, of, cut);
    op = std::make_shared<HostOperator>(matrix, "csr", OperatorOptions{});
    shell = make_shell(op);
    petsc_check(MatCreateVecs(shell, x.put(), b.put()));
    solver = std::make_unique<KspSolver>(spec, shell, nullptr, matrix);
  }
  KspResult solve(const Array<double>& rhs) {
    set_local_values(b, rhs);
    return solver->solve(b, x, false);
  }
  Array<double> random_rhs() const {
    return test::random_vector<double>(matrix->local_rows(), 5 + rank_of(MPI_COMM_WORLD));
  }
  double relative_residual() {
    VecHandle r;
    PetscReal of_r = 0, of_b = 0;
    petsc_check(VecDuplicate(b, r.put()));
    petsc_check(MatMult(shell, x, r));
    petsc_check(VecAYPX(r, -1, b));
    petsc_check(VecNorm(r, NORM_2, &of_r));
    petsc_check(VecNorm(b, NORM_2, &of_b));
    return of_r / of_b;
  }
  bool has_note(const std::string& words) const {
    for (const std::string& note : solver->notes())
      if (note.find(words) != std::string::npos) return true;
    return false;
  }

  SolverSpec spec;
  std::shared_ptr<DistributedMatrix> matrix;
  std::shared_ptr<HostOperator> op;
  MatHandle shell;
  VecHandle b, x;
  std::unique_ptr<KspSolver> solver;
};

TEST_F(DirectMethod, ExchangesRowsWhereTheDiagonalIsZero) {
  make(shifted_matrix(400));
  const KspResult result = solve(random_rhs());
  EXPECT_TRUE(result.verdict.converged) << result.verdict.text;
  EXPECT_LE(result.iterations, 2);
  EXPECT_LE(relative_residual(), 1e-12);
  EXPECT_EQ(solver->method(), "direct");
  EXPECT_EQ(solver->preconditioner_words(), "lu");
}

TEST_F(DirectMethod, TakesHalfOfTheFactorsOfASymmetricMatrix) {
  make(test::grid_matrix(20));
  EXPECT_EQ(solver->preconditioner_words(), "cholesky");
  EXPECT_TRUE(has_note("L D L^T"));
  EXPECT_TRUE(solve(random_rhs()).verdict.converged);
  make(test::grid_matrix(20, 1));
  EXPECT_EQ(solver->preconditioner_words(), "lu");
  spec.preconditioner.emplace(kLu);
  make(test::grid_matrix(20));
  EXPECT_EQ(solver->preconditioner_words(), "lu");
  spec.preconditioner.emplace(kCholesky);
  EXPECT_THROW(make(test::grid_matrix(20, 1)), Error);
}

TEST_F(DirectMethod, PreonlyTakesTheSameFactors) {
  spec.method = KSPPREONLY;
  spec.preconditioner.emplace(kLu);
  make(shifted_matrix(400));
  solve(random_rhs());
  EXPECT_LE(relative_residual(), 1e-10);  // PETSc's own factors hold NaN here
  EXPECT_TRUE(has_note("MUMPS"));
}

TEST_F(DirectMethod, WorksWhereARankHasNoRows) {
  make(shifted_matrix(2));
  EXPECT_TRUE(solve(random_rhs()).verdict.converged);
}

// Rows 1 and n - 2 are empty, and row n - 1 repeats row 0.
CsrMatrix<double> singular_matrix(std::int64_t n) {
  std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0.0));
  for (std::int64_t i = 0; i < n; ++i)
    if (i != 1 && i != n - 2) {
      dense[i][i] = 4;
      dense[i][(i + 3) % n] = 1;
    }
  dense[n - 1] = dense[0];
  return test::from_dense(dense);
}

TEST_F(DirectMethod, SolvesASingularSystemThatHasASolutionAndSaysTheRank) {
  make(singular_matrix(40));
  Array<double> ones(matrix->local_rows(), 1.0), rhs(matrix->local_rows());
  op->multiply_exactly(ones, rhs);
  const KspResult result = solve(rhs);
  EXPECT_TRUE(result.verdict.converged) << result.verdict.text;
  EXPECT_LE(relative_residual(), 1e-8);
  EXPECT_TRUE(has_note("its rank is 37 of 40"));
}

TEST_F(DirectMethod, SaysTheRankOfASingularSystemWithoutSolution) {
  make(singular_matrix(40));
  const KspResult result = solve(Array<double>(matrix->local_rows(), 1.0));
  EXPECT_FALSE(result.verdict.converged);
  EXPECT_FALSE(result.can_go_on);
  EXPECT_EQ(result.verdict.exit_code, ExitCode::breakdown);
  EXPECT_NE(result.verdict.text.find("its rank is 37 of 40"), std::string::npos)
      << result.verdict.text;
  EXPECT_LE(result.iterations, 5);
}

TEST_F(DirectMethod, SaysThatAMatrixIsSingularUpToRoundingWhereNoPivotIsZero) {
  make(chain(50));
  const KspResult result = solve(Array<double>(matrix->local_rows(), 1.0));
  EXPECT_EQ(result.verdict.exit_code, ExitCode::breakdown);
  EXPECT_NE(result.verdict.text.find("the matrix is singular"), std::string::npos)
      << result.verdict.text;
  EXPECT_NE(result.verdict.text.find("largest in unknown"), std::string::npos)
      << result.verdict.text;
}

// The values of `to` in place of those of the matrix.
void take(DistributedMatrix& matrix, const DistributedMatrix& to) {
  matrix.blocks.local.values = to.blocks.local.values;
  matrix.blocks.ghost.values = to.blocks.ghost.values;
  ++matrix.values_version;
}

TEST_F(DirectMethod, RefinesByOldFactorsAndRenewsThemWhereTheyDoNotServe) {
  make(test::grid_matrix(20));
  ASSERT_TRUE(solve(random_rhs()).verdict.converged);
  for (const double wind : {0.01, 50.0}) {
    take(*matrix, *test::matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(20, wind),
                                         test::Cut::by_nonzeros));
    op->refresh_values();
    note_change(static_cast<Mat>(shell));
    solver->take_values(Renewing::nothing);
    const KspResult result = solve(random_rhs());
    EXPECT_TRUE(result.verdict.converged) << result.verdict.text;
    EXPECT_LE(relative_residual(), 1.01e-8);
    EXPECT_EQ(result.facts.renewed_seconds > 0, wind > 1) << wind;
    EXPECT_EQ(solver->preconditioner_words(), wind > 1 ? "lu" : "cholesky");
  }
}

// Without a permutation that brings large entries to the diagonal, and without the room that MUMPS
// takes beyond its estimate, the pivots that it delays find no place.
TEST_F(DirectMethod, TriesAgainWithMoreRoomAndSaysWhatSavesTheAttempt) {
  const test::PetscOption permutation("-mat_mumps_icntl_6", "0"), order("-mat_mumps_icntl_7", "0"),
      room("-mat_mumps_icntl_14", "0");
  make(shifted_matrix(400));
  EXPECT_TRUE(has_note("petsc: {mat_mumps_icntl_14: 100}"));
  EXPECT_TRUE(solve(random_rhs()).verdict.converged);
  EXPECT_LE(relative_residual(), 1e-8);
}

TEST_F(DirectMethod, ServesNewValuesAfterThoseOfASingularMatrix) {
  const CsrMatrix<double> singular = singular_matrix(40);
  CsrMatrix<double> regular = singular;
  make(singular);
  EXPECT_FALSE(solve(Array<double>(matrix->local_rows(), 1.0)).verdict.converged);
  for (std::int64_t row = 0; row < regular.rows; ++row)
    for (std::int32_t k = regular.row_ptr[row]; k < regular.row_ptr[row + 1]; ++k)
      regular.values[k] += row == regular.rows - 1 ? 1 : 0;
  take(*matrix, *test::matrix_on_ranks(MPI_COMM_WORLD, regular, test::Cut::by_nonzeros));
  op->refresh_values();
  note_change(static_cast<Mat>(shell));
  solver->take_values(Renewing::numbers);
  EXPECT_TRUE(has_note("its rank is 38 of 40"));
}

TEST(Forecast, OfCompleteFactorsCountsWhatTheyTakeAndWhetherThatFits) {
  const auto matrix =
      test::matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(60), test::Cut::by_nonzeros);
  const auto half = forecast_direct(matrix, true, false),
             whole = forecast_direct(matrix, false, false);
  ASSERT_TRUE(half && whole);
  EXPECT_GT(half->nonzeros, 3600);
  EXPECT_LT(half->nonzeros, 0.7 * whole->nonzeros);
  EXPECT_LT(half->operations, 0.7 * whole->operations);
  EXPECT_GE(half->bytes, 8 * half->nonzeros);
  EXPECT_LE(half->bytes, 200 * half->nonzeros);
  EXPECT_GT(half->factor_seconds, half->solve_seconds);
  EXPECT_TRUE(half->fits);
}

// Of 10,000 rows, 1 and then 20 with 600 entries, and one with 5,000, which is set aside.
TEST(Forecast, IsExpectedToTakeLongerWhereManyRowsAreLong) {
  const auto seconds_with = [](std::int32_t long_rows, std::int32_t length) {
    constexpr std::int32_t rows = 10000;
    CsrMatrix<double> a;
    a.rows = a.cols = rows;
    for (std::int32_t row = 0; row < rows; ++row) {
      const std::int32_t entries = row % 500 == 0 && row / 500 < long_rows ? length : 4;
      for (std::int32_t k = 0; k < entries; ++k) {
        a.col_idx.push_back((row < rows / 2 ? row : 0) + k);
        a.values.push_back(1);
      }
      a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
    }
    return expected_forecast_seconds(
        *test::matrix_on_ranks(MPI_COMM_WORLD, a, test::Cut::by_nonzeros), false);
  };
  const double none = seconds_with(0, 4);
  EXPECT_NEAR(none, 0.0059, 1e-6);  // 10,000 rows, 40,000 nonzeros
  const double one = seconds_with(1, 600) - none, twenty = seconds_with(20, 600) - none;
  EXPECT_GT(one, 0.01);
  EXPECT_NEAR(twenty, 20 * one, one);
  EXPECT_LT(seconds_with(1, 5000), 1.2 * none);
}

TEST_F(DirectMethod, GoesOnFromTheAnalysisOfAForecast) {
  for (const bool symmetric : {true, false}) {
    const CsrMatrix<double> a = symmetric ? test::grid_matrix(20) : shifted_matrix(400);
    make(a);
    for (const bool fits : {true, false}) {
      auto forecast = forecast_direct(matrix, symmetric == fits, false);
      ASSERT_TRUE(forecast && forecast->analysis);
      const PC analysed = forecast->analysis->by_minimum_fill->pc();
      petsc_check(PetscObjectReference(object_of(analysed)));
      const PcHandle also_ours(analysed);
      KspSolver from(spec, shell, nullptr, matrix, {}, {}, std::move(forecast->analysis));
      PetscInt owners = 0;
      petsc_check(PetscObjectGetReference(object_of(analysed), &owners));
      // Rows that are exchanged across ranks may need another analysis.
      if (symmetric || !fits || size_of(MPI_COMM_WORLD) == 1) {
        EXPECT_EQ(owners, fits ? 2 : 1);
      }
      set_local_values(b, random_rhs());
      EXPECT_TRUE(from.solve(b, x, false).verdict.converged) << symmetric << fits;
      EXPECT_LE(relative_residual(), 1e-12);
    }
  }
}

// The forecast has read a matrix whose rows store all diagonal entries.
TEST_F(DirectMethod, StoresTheDiagonalThatAnAssembledMatrixLacks) {
  const CsrMatrix<double> grid = test::grid_matrix(20);
  CsrMatrix<double> a;
  a.rows = a.cols = grid.rows;
  for (std::int32_t row = 0; row < grid.rows; ++row) {
    for (std::int32_t k = grid.row_ptr[row]; k < grid.row_ptr[row + 1]; ++k) {
      if (row == 10 && grid.col_idx[k] == row) continue;
      a.col_idx.push_back(grid.col_idx[k]);
      a.values.push_back(grid.values[k]);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  make(a);
  const AssembledMat without_zero(matrix, AijUse::product);
  auto forecast = forecast_direct(matrix, true, false);
  ASSERT_TRUE(forecast && forecast->analysis);
  KspSolver from(spec, shell, without_zero.mat(), matrix, {}, {}, std::move(forecast->analysis));
  set_local_values(b, random_rhs());
  const KspResult result = from.solve(b, x, false);
  EXPECT_TRUE(result.verdict.converged) << result.verdict.text;
  EXPECT_EQ(result.iterations, 1);
  EXPECT_LE(relative_residual(), 1e-12);
}

// The neighbours of a cube of n^3 points.
CsrMatrix<double> cube(std::int64_t n) {
  CsrMatrix<double> a;
  a.rows = a.cols = n * n * n;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t x = row % n, y = row / n % n, z = row / (n * n);
    const auto put = [&](bool is_there, std::int64_t column, double value) {
      if (!is_there) return;
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(value);
    };
    put(z > 0, row - n * n, -1);
    put(y > 0, row - n, -1);
    put(x > 0, row - 1, -1);
    put(true, row, 6);
    put(x + 1 < n, row + 1, -1);
    put(y + 1 < n, row + n, -1);
    put(z + 1 < n, row + n * n, -1);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

TEST(Analysis, OrdersAnewOnlyWhereFactorsTakeLong) {
  using Order = MumpsAnalysis::Order;
  const auto analysed = [](const CsrMatrix<double>& a, bool* by_the_first) {
    const AssembledMat mat(test::matrix_on_ranks(MPI_COMM_WORLD, a, test::Cut::by_nonzeros),
                           AijUse::preconditioner);
    auto first = std::make_unique<MumpsAnalysis>(mat.mat(), true, Order::minimum_fill, nullptr);
    const MumpsAnalysis other(mat.mat(), true, Order::dissection, nullptr);
    const MumpsAnalysis* const of_first = first.get();
    const double least = std::min(first->factor_seconds(), other.factor_seconds());
    const auto taken = with_better_order(std::move(first), mat.mat(), nullptr);
    *by_the_first = taken.get() == of_first;
    return std::pair(taken->factor_seconds(), least);
  };
  bool first = false;
  analysed(test::grid_matrix(60), &first);
  EXPECT_TRUE(first);
  const auto [taken, least] = analysed(cube(24), &first);
  EXPECT_GT(taken, 0.05) << least;
  EXPECT_EQ(taken, least);
}

TEST(Analysis, LeavesTheOrderToAnOption) {
  const AssembledMat mat(
      test::matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(10), test::Cut::by_nonzeros),
      AijUse::preconditioner);
  const auto by_option = [&] {
    return MumpsAnalysis(mat.mat(), true, MumpsAnalysis::Order::minimum_fill, nullptr)
        .is_ordered_by_option();
  };
  EXPECT_FALSE(by_option());
  EXPECT_FALSE(by_option());
  const test::PetscOption order("-mat_mumps_icntl_7", "0");
  EXPECT_TRUE(by_option());
}

// Measured on an H100: rows of poisson3d, nonzeros of the factors, threads of the analysis, and its
// seconds, those of the factors and of the first solve.
TEST(Forecast, OfCudssIsNearWhatWasMeasured) {
  struct Measured {
    double rows, nonzeros;
    int threads;
    double analysis, factors, solve;
  };
  for (const Measured& of :
       {Measured{125e3, 42e6, 16, 0.46, 0.07, 0.038}, Measured{262e3, 131e6, 16, 0.94, 0.14, 0.041},
        Measured{512e3, 358e6, 16, 1.6, 0.26, 0.057}, Measured{125e3, 42e6, 1, 1.7, 0.16, 0.036},
        Measured{262e3, 131e6, 1, 3.9, 0.22, 0.051}, Measured{512e3, 358e6, 1, 8.0, 0.35, 0.035}}) {
    const CudssSeconds expected = expected_of_cudss(7 * of.rows, of.nonzeros, of.threads);
    const double measured = of.analysis + of.factors + of.solve;
    EXPECT_NEAR(expected.analysis, of.analysis, 0.3 * of.analysis);
    EXPECT_NEAR(expected.analysis + expected.factors + expected.solve, measured, 0.3 * measured);
    EXPECT_GE(expected.factors, of.factors / 2.5);
    EXPECT_LE(expected.factors, of.factors * 2.5);
  }
}

TEST(Packages, AreMumpsThenSuperLuThenPetscsOwnOnOneRank) {
  const FactorPackages all{.mumps_lu = true, .mumps_cholesky = true, .superlu_dist = true};
  EXPECT_EQ(choose_factors(all, true, 3).package, MATSOLVERMUMPS);
  EXPECT_TRUE(choose_factors(all, true, 3).symmetric);
  EXPECT_FALSE(choose_factors(all, false, 3).symmetric);
  const FactorChoice other = choose_factors({.superlu_dist = true}, true, 3);
  EXPECT_EQ(other.package, MATSOLVERSUPERLU_DIST);
  EXPECT_FALSE(other.symmetric);
  const FactorChoice petscs = choose_factors({}, true, 1);
  EXPECT_EQ(petscs.package, MATSOLVERPETSC);
  EXPECT_NE(petscs.note.find("exchanges no rows"), std::string::npos);
  EXPECT_THROW(choose_factors({}, false, 2), Error);
}

}  // namespace
}  // namespace trireme
