// SPDX-License-Identifier: BSD-3-Clause
// KspSolver::solve_block() gives each column what solve() would give it, on 1 and several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>
#include <signal.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/vectors.hpp"
#include "solvers/systems.hpp"
#include "support/permuted_csr.hpp"
#include "support/petsc_environment.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kColumns = 5;

class SolverOfBlocks : public testing::Test {
 protected:
  SolverOfBlocks() {
    a = test::irregular_matrix(600, 0, 200);
    matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, test::Cut::by_nonzeros);
    spec.rtol = 1e-10;
    values =
        test::random_vector<double>(matrix->local_rows() * kColumns, 7 + rank_of(MPI_COMM_WORLD));
    x.assign(values.size(), 0.0);
  }
  void make(const OperatorOptions& options = {}) {
    op = std::make_shared<HostOperator>(matrix, "csr", options);
    shell = make_shell(op);
    solver = std::make_unique<KspSolver>(spec, shell, nullptr, matrix);
    solver->prepare();
  }
  MultiVector<const double> b() const {
    return side_by_side<const double>(values.data(), matrix->local_rows(), kColumns);
  }
  MultiVector<double> solutions() { return side_by_side(x.data(), matrix->local_rows(), kColumns); }
  std::vector<KspResult> solve(bool nonzero_guess = false) {
    return solver->solve_block(b(), solutions(), nonzero_guess);
  }
  void scale_column(std::int64_t j, double by) {
    for (std::int64_t i = 0; i < matrix->local_rows(); ++i) values[i * kColumns + j] *= by;
  }
  // ||b_j - A x_j|| and ||b_j||.
  std::pair<double, double> residual(std::int64_t j) {
    const std::int64_t rows = matrix->local_rows();
    Array<double> of_x(rows), product(rows);
    for (std::int64_t i = 0; i < rows; ++i) of_x[i] = x[i * kColumns + j];
    op->multiply_exactly(of_x, product);
    double sums[] = {0, 0};
    for (std::int64_t i = 0; i < rows; ++i) {
      const double own = values[i * kColumns + j];
      sums[0] += (own - product[i]) * (own - product[i]);
      sums[1] += own * own;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return {std::sqrt(sums[0]), std::sqrt(sums[1])};
  }
  double relative_residual(std::int64_t j) {
    const auto [of_r, of_b] = residual(j);
    return of_r / of_b;
  }
  // What solve() says of column j.
  KspResult alone(std::int64_t j) {
    VecHandle one_b, one_x;
    petsc_check(MatCreateVecs(shell, one_x.put(), one_b.put()));
    Array<double> column(matrix->local_rows());
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = values[i * kColumns + j];
    set_local_values(one_b, column);
    return solver->solve(one_b, one_x, false);
  }

  CsrMatrix<double> a;
  std::shared_ptr<DistributedMatrix> matrix;
  std::shared_ptr<HostOperator> op;
  SolverSpec spec;
  MatHandle shell;
  std::unique_ptr<KspSolver> solver;
  Array<double> values, x;
};

TEST_F(SolverOfBlocks, SaysOfEachColumnWhatSolveSaysOfIt) {
  const auto shuffled = std::make_shared<OrderedMatrix>(matrix, Ordering::cluster,
                                                        test::random_order(matrix->local_rows()));
  for (const char* method : {"cg", "minres", "bicgstab"})
    for (const char* preconditioner : {"jacobi", "trireme_chebyshev"})
      for (const auto& ordered : {std::shared_ptr<OrderedMatrix>(), shuffled}) {
        spec.method = method;
        spec.preconditioner.emplace(preconditioner);
        if (spec.method == "bicgstab" && spec.preconditioner->own()->info.symmetric) continue;
        SCOPED_TRACE(spec.method + ", " + preconditioner + (ordered ? ", ordered" : ""));
        make({.ordered = ordered});
        ASSERT_TRUE(solver->solves_blocks());
        const std::vector<KspResult> results = solve();
        ASSERT_EQ(std::ssize(results), kColumns);
        for (std::int64_t j = 0; j < kColumns; ++j) {
          const KspResult& result = results[j];
          EXPECT_TRUE(result.verdict.converged);
          EXPECT_LE(relative_residual(j), 1.001e-10);
          EXPECT_FALSE(result.can_go_on);
          EXPECT_EQ(result.seconds, results[0].seconds);
          EXPECT_EQ(std::ssize(result.residuals), result.iterations + 1);
          if (j > 1) continue;
          const KspResult single = alone(j);
          EXPECT_EQ(result.verdict.text, single.verdict.text);
          const auto expected = static_cast<double>(single.iterations);
          EXPECT_NEAR(static_cast<double>(result.iterations), expected, 2 + 0.15 * expected);
          EXPECT_NEAR(result.residuals.front(), single.residuals.front(),
                      1e-12 * single.residuals.front());
          EXPECT_EQ(result.facts.executor, single.facts.executor);
          EXPECT_EQ(result.facts.variant, single.facts.variant);
        }
      }
}

TEST_F(SolverOfBlocks, OneProductServesAllColumns) {
  make();
  solver->block_bytes(kColumns);
  struct Count final : Operator::ProductObserver {
    void begin(Part part) override { products += part == Part::local; }
    void end(Part) override {}
    std::int64_t products = 0;
  } count;
  op->observe(&count);
  std::int64_t most = 0;
  for (const KspResult& result : solve()) most = std::max(most, result.iterations);
  op->observe(nullptr);
  EXPECT_GE(count.products, most);
  EXPECT_LE(count.products, most + 2 * kColumns + 2);
  EXPECT_GE(op->times().count(), 3 * most) << "each vector of a product counts";
}

TEST_F(SolverOfBlocks, AnOptionThatPrintsEachSolveAsksForSolvesOneByOne) {
  make();
  EXPECT_TRUE(solver->solves_blocks());
  for (const char* option : {"-ksp_view_pre", "-ksp_converged_reason"}) {
    petsc_check(PetscOptionsSetValue(nullptr, option, nullptr));
    EXPECT_FALSE(solver->solves_blocks()) << option;
    petsc_check(PetscOptionsClearValue(nullptr, option));
  }
}

TEST_F(SolverOfBlocks, MixedPrecisionIsCorrected) {
  for (double& value : matrix->blocks.local.values) value *= 1 + 1e-9;
  make({.precision = Precision::mixed});
  for (const KspResult& result : solve()) {
    EXPECT_TRUE(result.verdict.converged);
    EXPECT_TRUE(result.facts.mixed);
  }
  for (std::int64_t j = 0; j < kColumns; ++j) EXPECT_LE(relative_residual(j), 1.001e-10);
}

TEST_F(SolverOfBlocks, ANewOperatorOfTheShellIsUsed) {
  make();
  solve();
  const auto other = std::make_shared<HostOperator>(matrix, "albus");
  replace_operator(shell, other, false);
  const std::int64_t before = other->times().count();
  for (const KspResult& result : solve()) EXPECT_TRUE(result.verdict.converged);
  EXPECT_GT(other->times().count(), before);
}

TEST_F(SolverOfBlocks, AColumnOfNaNFailsAlone) {
  scale_column(3, std::numeric_limits<double>::quiet_NaN());
  make();
  const std::vector<KspResult> results = solve();
  for (std::int64_t j = 0; j < kColumns; ++j)
    EXPECT_EQ(results[j].verdict.exit_code, j == 3 ? ExitCode::breakdown : ExitCode::converged)
        << j;
}

TEST_F(SolverOfBlocks, GuessesAreUsed) {
  make();
  solve();
  for (const KspResult& result : solve(true)) EXPECT_LE(result.iterations, 1);
  for (const KspResult& result : solve(false)) EXPECT_GT(result.iterations, 1);
}

TEST_F(SolverOfBlocks, EachColumnMayHaveItsOwnScale) {
  spec.rtol = 1e-14;
  spec.atol = 1e-3;
  std::vector<int> exponents(kColumns, 0);
  exponents[1] = 8;
  exponents[4] = -8;
  for (std::int64_t j = 0; j < kColumns; ++j) scale_column(j, std::ldexp(1.0, -exponents[j]));
  make();
  solver->scale_tolerance(exponents);
  const std::vector<KspResult> results = solve();
  for (std::int64_t j = 0; j < kColumns; ++j) {
    const double atol = std::ldexp(1e-3, -exponents[j]);
    EXPECT_EQ(results[j].verdict.reason, KSP_CONVERGED_ATOL);
    EXPECT_LE(residual(j).first, 1.001 * atol) << j;
    EXPECT_GT(residual(j).first, 1e-3 * atol) << "column " << j << " goes no further than asked";
  }
}

TEST_F(SolverOfBlocks, ASignalEndsAllColumns) {
  make();
  InterruptGuard interrupts;
  interrupts.begin();
  solver->monitor([](std::int64_t iteration, double) {
    if (iteration == 2 && rank_of(MPI_COMM_WORLD) == 0) raise(SIGTERM);
  });
  for (const KspResult& result : solve()) {
    EXPECT_EQ(result.verdict.exit_code, ExitCode::not_converged);
    EXPECT_TRUE(result.facts.stopped);
    EXPECT_FALSE(result.can_go_on);
    EXPECT_NE(result.verdict.text.find("stopped by a signal"), std::string::npos);
    EXPECT_LE(result.iterations, 4);
  }
  for (std::int64_t j = 0; j < kColumns; ++j)
    EXPECT_LT(relative_residual(j), 0.9) << "x is the iterate so far";
}

TEST_F(SolverOfBlocks, TheMonitorHearsOfEachIterationOfTheBlock) {
  make();
  std::vector<double> norms;
  solver->monitor([&](std::int64_t iteration, double norm) {
    EXPECT_EQ(iteration, std::ssize(norms));
    norms.push_back(norm);
  });
  const std::vector<KspResult> results = solve();
  std::size_t most = 0;
  for (const KspResult& result : results) most = std::max(most, result.residuals.size());
  ASSERT_GE(norms.size(), most);
  for (std::size_t k = 0; k < 3; ++k) {
    double largest = 0;
    for (const KspResult& result : results) largest = std::max(largest, result.residuals[k]);
    EXPECT_EQ(norms[k], largest);
  }
  EXPECT_EQ(solver->residuals(), norms);
}

TEST_F(SolverOfBlocks, BlockCgTakesFewerIterations) {
  make();
  std::int64_t of_cg = 0, of_block_cg = 0;
  for (const KspResult& result : solve()) of_cg = std::max(of_cg, result.iterations);
  spec.method = "block_cg";
  make();
  EXPECT_EQ(solver->method(), "block_cg");
  EXPECT_EQ(solver->engine(), Engine::resident);
  for (const KspResult& result : solve()) {
    EXPECT_TRUE(result.verdict.converged);
    of_block_cg = std::max(of_block_cg, result.iterations);
  }
  for (std::int64_t j = 0; j < kColumns; ++j) EXPECT_LE(relative_residual(j), 1.001e-10);
  EXPECT_LT(of_block_cg, of_cg);
  EXPECT_NEAR(static_cast<double>(alone(0).iterations), static_cast<double>(of_cg), 3)
      << "it is CG for one vector";
}

TEST_F(SolverOfBlocks, BlockCgIsRefusedWhereOnlyPetscServes) {
  const auto code_of = [&] {
    try {
      make();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("block_cg"), std::string::npos) << error.what();
      return error.code();
    }
    return ExitCode::converged;
  };
  spec.method = "block_cg";
  spec.preconditioner.emplace("gamg");
  EXPECT_EQ(code_of(), ExitCode::usage);
  spec.preconditioner.emplace("jacobi");
  spec.engine = Engine::petsc;
  EXPECT_EQ(code_of(), ExitCode::usage);
}

TEST_F(SolverOfBlocks, PetscsLoopsSolveNoBlocks) {
  spec.method = "fgmres";
  make();
  EXPECT_FALSE(solver->solves_blocks());
}

TEST_F(SolverOfBlocks, MoreColumnsNeedMoreMemory) {
  make();
  const auto per_column = static_cast<std::int64_t>(sizeof(double)) * matrix->local_rows();
  const std::int64_t narrow = solver->block_bytes(8), wide = solver->block_bytes(16);
  EXPECT_GE(wide - narrow, 5 * 8 * per_column);
  EXPECT_LE(wide - narrow, 20 * 8 * per_column);
}

}  // namespace
}  // namespace trireme
