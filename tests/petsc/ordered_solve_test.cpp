// SPDX-License-Identifier: BSD-3-Clause
// Solves of the resident engine on the host in an order of rows: nobody outside the loop sees the
// order.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/mat/row_order.hpp"
#include "petsc/vectors.hpp"
#include "solvers/systems.hpp"
#include "support/permuted_csr.hpp"
#include "support/petsc_environment.hpp"

namespace trireme {
namespace {

using Matrix = std::shared_ptr<DistributedMatrix>;
constexpr double kRtol = 1e-11;

class OrderedSolve : public testing::Test {
 protected:
  void SetUp() override {
    register_resident_types();
    a = test::irregular_matrix(1500);
    matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, test::Cut::by_nonzeros);
    shuffled = std::make_shared<OrderedMatrix>(matrix, Ordering::cluster,
                                               test::random_order(matrix->local_rows()));
  }
  MatHandle shell_in(std::shared_ptr<OrderedMatrix> ordered, Precision precision) {
    return make_shell(std::make_shared<HostOperator>(
        matrix, "csr", OperatorOptions{.precision = precision, .ordered = std::move(ordered)}));
  }
  void make(Mat shell, const char* type, const char* pc_type, PetscInt max_iterations = 5000) {
    if (!b) {
      petsc_check(MatCreateVecs(shell, x.put(), b.put()));
      set_local_values(b, test::random_vector<double>(matrix->local_rows(), 4));
    }
    petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
    petsc_check(KSPSetOperators(ksp, shell, shell));
    petsc_check(KSPSetType(ksp, type));
    petsc_check(KSPSetTolerances(ksp, kRtol, PETSC_DEFAULT, PETSC_DEFAULT, max_iterations));
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    petsc_check(PCSetType(pc, pc_type));
  }
  Array<double> solution(Mat shell, const char* type, const char* pc_type) {
    make(shell, type, pc_type);
    petsc_check(VecSet(x, 0));
    petsc_check(KSPSolve(ksp, b, x));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    petsc_check(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason, KSP_CONVERGED_RTOL);
    return local_values(x);
  }

  CsrMatrix<double> a;
  Matrix matrix;
  std::shared_ptr<OrderedMatrix> shuffled;
  VecHandle x, b;
  KspHandle ksp;
};

void expect_close(const Array<double>& x, const Array<double>& expected) {
  ASSERT_EQ(x.size(), expected.size());
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], expected[i], 1e-7 * largest) << "row " << i;
}

TEST_F(OrderedSolve, ReturnsXInTheCallersOrder) {
  for (const char* type : {"trireme_cg", "trireme_bicgstab", "trireme_minres"})
    for (const char* pc_type : {"none", "jacobi", "trireme_chebyshev"}) {
      if (std::string(type) == "trireme_bicgstab" && std::string(pc_type) == "trireme_chebyshev")
        continue;  // it is for symmetric methods
      SCOPED_TRACE(std::string(type) + ", " + pc_type);
      const MatHandle callers = shell_in(nullptr, Precision::full);
      const Array<double> expected = solution(callers, type, pc_type);
      const MatHandle ordered = shell_in(shuffled, Precision::full);
      expect_close(solution(ordered, type, pc_type), expected);
    }
}

TEST_F(OrderedSolve, CorrectsMixedPrecisionInItsOrder) {
  const MatHandle callers = shell_in(nullptr, Precision::full);
  const Array<double> expected = solution(callers, "trireme_cg", "jacobi");
  const MatHandle mixed = shell_in(shuffled, Precision::mixed);
  expect_close(solution(mixed, "trireme_cg", "jacobi"), expected);
}

TEST_F(OrderedSolve, TakesTheGuessInTheCallersOrder) {
  const MatHandle ordered = shell_in(shuffled, Precision::full);
  solution(ordered, "trireme_cg", "jacobi");
  petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 5000));
  petsc_check(KSPSolve(ksp, b, x));
  PetscInt iterations = -1;
  petsc_check(KSPGetIterationNumber(ksp, &iterations));
  EXPECT_EQ(iterations, 0) << "the guess is the solution";
}

TEST_F(OrderedSolve, GoesOnFromAStoppedSolveInAnyOrder) {
  const MatHandle callers = shell_in(nullptr, Precision::full);
  const Array<double> expected = solution(callers, "trireme_cg", "jacobi");
  PetscInt all = 0;
  petsc_check(KSPGetIterationNumber(ksp, &all));
  ASSERT_GT(all, 8);
  const MatHandle ordered = shell_in(shuffled, Precision::full);
  for (const auto& [first, second] : {std::pair<Mat, Mat>{ordered, callers}, {callers, ordered}}) {
    make(first, "trireme_cg", "jacobi", all / 2);
    petsc_check(VecSet(x, 0));
    petsc_check(KSPSolve(ksp, b, x));
    solvers::StoppedSolve stopped = ksp_stopped_solve(ksp);
    make(second, "trireme_cg", "jacobi");
    petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    ksp_go_on(ksp, std::move(stopped));
    petsc_check(KSPSolve(ksp, b, x));
    PetscInt iterations = 0;
    petsc_check(KSPGetIterationNumber(ksp, &iterations));
    EXPECT_NEAR(static_cast<double>(iterations), static_cast<double>(all), 1);
    expect_close(local_values(x), expected);
  }
}

// In each iteration, compares the norm that the loop reports with that of b - A x for the x that
// KSPBuildSolution shows.
PetscErrorCode compare_norms(KSP ksp, PetscInt, PetscReal norm, void* worst) {
  Vec shown = nullptr, b = nullptr;
  Mat a = nullptr;
  VecHandle r;
  PetscReal of_r = 0;
  petsc_check(KSPBuildSolution(ksp, nullptr, &shown));
  petsc_check(KSPGetRhs(ksp, &b));
  petsc_check(KSPGetOperators(ksp, &a, nullptr));
  petsc_check(VecDuplicate(b, r.put()));
  petsc_check(MatMult(a, shown, r));
  petsc_check(VecAYPX(r, -1, b));
  petsc_check(VecNorm(r, NORM_2, &of_r));
  double& difference = *static_cast<double*>(worst);
  difference = std::max(difference, std::abs(of_r - norm) / norm);
  return 0;
}

TEST_F(OrderedSolve, ShowsMonitorsTheIterateInTheCallersOrder) {
  const MatHandle ordered = shell_in(shuffled, Precision::full);
  make(ordered, "trireme_cg", "jacobi", 10);
  double worst = 0;
  petsc_check(KSPMonitorSet(ksp, compare_norms, &worst, nullptr));
  petsc_check(VecSet(x, 0));
  petsc_check(KSPSolve(ksp, b, x));
  EXPECT_LT(worst, 1e-6);
}

TEST_F(OrderedSolve, RefusesAPreconditionerOfNeighbouringRows) {
  const MatHandle ordered = shell_in(shuffled, Precision::full);
  make(ordered, "trireme_cg", "trireme_block_jacobi");
  EXPECT_FALSE(row_order_is_free(ksp));
  petsc_check(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  EXPECT_NE(KSPSolve(ksp, b, x), 0);
  petsc_check(PetscPopErrorHandler());
  make(ordered, "trireme_cg", "jacobi");
  EXPECT_TRUE(row_order_is_free(ksp));
}

TEST(RowOrderIsFree, IsKnownFromTheNamesOfTheCase) {
  SolverSpec spec;
  const auto is_free = [&](const char* method, const char* preconditioner) {
    spec.method = method;
    spec.preconditioner.emplace(preconditioner);
    return row_order_is_free(spec);
  };
  EXPECT_TRUE(is_free("cg", "jacobi"));
  EXPECT_TRUE(is_free("cg", "trireme_chebyshev"));
  EXPECT_FALSE(is_free("cg", "trireme_block_jacobi"));
  EXPECT_FALSE(is_free("cg", "pbjacobi"));
  EXPECT_FALSE(is_free("cg", "ilu")) << "PETSc solves";
  EXPECT_TRUE(is_free("gmres", "jacobi"));
  EXPECT_FALSE(is_free("fgmres", "jacobi")) << "PETSc solves";
}

}  // namespace
}  // namespace trireme
