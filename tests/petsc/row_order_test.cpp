// SPDX-License-Identifier: BSD-3-Clause
// The row order of a solve through PETSc: the result does not depend on the row order, and other
// products with the same operator stay correct. The tests skip without a GPU.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <cmath>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/nodes.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/mat/row_order.hpp"
#include "petsc/vectors.hpp"
#include "solvers/systems.hpp"
#include "support/permuted_csr.hpp"
#include "support/petsc_environment.hpp"
#include "support/random.hpp"

namespace trireme {
namespace {

constexpr PermutationRule kAlways{.min_nonzeros = 0, .min_products = 0, .min_gain = -1e9};
constexpr PermutationRule kNever{.min_nonzeros = 0, .min_products = 0, .min_gain = 1};

class RowOrder : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
    select_device(rank_on_node(MPI_COMM_WORLD));
    register_resident_types();
    a = test::irregular_matrix(4000);
    matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, test::Cut::by_nonzeros);
    op = std::make_shared<CudaOperator>(matrix, GetParam());
    shell = make_shell(op);
    petsc_check(MatCreateVecs(shell, x.put(), b.put()));
    set_local_values(b, test::random_vector<double>(matrix->local_rows(), 4));
  }
  bool alone() const { return size_of(MPI_COMM_WORLD) == 1; }

  // Solves with the KSP type `type` and checks the solution on the host. Returns the number of
  // iterations.
  PetscInt solve(const char* type, const char* pc_type) {
    KspHandle ksp;
    petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
    petsc_check(KSPSetOperators(ksp, shell, shell));
    petsc_check(KSPSetType(ksp, type));
    petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 5000));
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    petsc_check(PCSetType(pc, pc_type));
    petsc_check(VecSet(x, 0));
    petsc_check(KSPSolve(ksp, b, x));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    petsc_check(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason, KSP_CONVERGED_RTOL);
    PetscInt iterations = 0;
    petsc_check(KSPGetIterationNumber(ksp, &iterations));
    EXPECT_LE(residual(), 1.0001e-9);
    return iterations;
  }
  // ||b - A x|| / ||b||, computed with the plain CSR on the host.
  double residual() {
    HostOperator host(matrix, "csr");
    const Array<double> solution = local_values(x), right = local_values(b);
    Array<double> r(solution.size());
    host.multiply(solution, r);
    double sums[2] = {0, 0};
    for (std::size_t i = 0; i < r.size(); ++i) {
      sums[0] += (right[i] - r[i]) * (right[i] - r[i]);
      sums[1] += right[i] * right[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(sums[0] / sums[1]);
  }
  void expect_product() {
    HostOperator host(matrix, "csr");
    const Array<double> from = test::random_vector<double>(matrix->local_rows(), 3);
    Array<double> expected(from.size()), y = test::poisoned_vector<double>(matrix->local_rows());
    host.multiply(from, expected);
    op->multiply(from, y);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << "local row " << i;
  }

  CsrMatrix<double> a;
  std::shared_ptr<DistributedMatrix> matrix;
  std::shared_ptr<CudaOperator> op;
  MatHandle shell;
  VecHandle x, b;
};
INSTANTIATE_TEST_SUITE_P(, RowOrder, testing::Values("dasp", "teb"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(RowOrder, IsTheKernelsIfATrialGainsEnoughOnOneRank) {
  op->choose_row_order(1000, kAlways);
  EXPECT_EQ(op->permuted() != nullptr, alone());
  EXPECT_EQ(op->row_order_trial().seconds > 0, alone());
  expect_product();
  EXPECT_EQ(op->times().count(), 1);
  const auto held = op->share_local_kernel();  // keeps the kernel in the caller's row order too
  expect_product();
  EXPECT_GT(op->statistics().stored_bytes, 0);
}

TEST_P(RowOrder, IsTheCallersIfATrialGainsTooLittle) {
  op->choose_row_order(1000, kNever);
  EXPECT_EQ(op->permuted(), nullptr);
  EXPECT_EQ(op->row_order_trial().callers_us > 0, alone());
  op->choose_row_order(1000, kAlways);
  EXPECT_EQ(op->permuted(), nullptr) << "a trial is made only once";
  expect_product();
}

TEST_P(RowOrder, IsTheCallersForSmallSystems) {
  solve("trireme_cg", PCJACOBI);
  EXPECT_EQ(op->permuted(), nullptr);
}

TEST_P(RowOrder, DoesNotChangeTheSolution) {
  const PetscInt cg = solve("trireme_cg", PCJACOBI);
  op->choose_row_order(1000, kAlways);
  EXPECT_NEAR(solve("trireme_cg", PCJACOBI), cg, 1);
  EXPECT_NEAR(solve("trireme_cg", "trireme_block_jacobi"), cg, 0.3 * cg)
      << "block Jacobi solves in the caller's order";
  solve("trireme_bicgstab", PCJACOBI);
  solve(KSPCG, PCJACOBI);  // by MatMult
  expect_product();
}

TEST_P(RowOrder, FollowsNewValues) {
  op->choose_row_order(1000, kAlways);
  solve("trireme_cg", PCJACOBI);
  Array<double> values(matrix->blocks.nnz());
  const std::int64_t first = matrix->first_row();
  for (std::int64_t i = 0, k = 0; i < matrix->local_rows(); ++i)
    for (std::int32_t at = a.row_ptr[first + i]; at < a.row_ptr[first + i + 1]; ++at, ++k)
      values[k] = a.values[at] * (1 + 0.1 * ((first + i) % 5)) * (1 + 0.1 * (a.col_idx[at] % 5));
  op->update_values(values);
  petsc_check(MatAssemblyBegin(shell, MAT_FINAL_ASSEMBLY));  // tells PETSc of the new values
  petsc_check(MatAssemblyEnd(shell, MAT_FINAL_ASSEMBLY));
  expect_product();
  solve("trireme_cg", PCJACOBI);
  expect_product();
}

// The order of the operator, and that of its kernel on top of it.
TEST_P(RowOrder, OfTheKernelComesOnTopOfAnOrdering) {
  const PetscInt in_callers_order = solve("trireme_cg", PCJACOBI);
  const auto ordered = std::make_shared<OrderedMatrix>(matrix, Ordering::cluster,
                                                       test::random_order(matrix->local_rows()));
  op = std::make_shared<CudaOperator>(matrix, GetParam(), OperatorOptions{.ordered = ordered});
  shell = make_shell(op);
  expect_product();
  EXPECT_NEAR(solve("trireme_cg", PCJACOBI), in_callers_order, 1);
  solve("trireme_cg", "trireme_chebyshev");
  solve("trireme_bicgstab", PCJACOBI);
  op->choose_row_order(1000, kAlways);
  EXPECT_EQ(op->permuted() != nullptr, alone());
  expect_product();
  EXPECT_NEAR(solve("trireme_cg", PCJACOBI), in_callers_order, 1);
  expect_product();
}

// A solver that was prepared before the change keeps the kernel that it has captured.
TEST_P(RowOrder, MayChangeUnderAPreparedSolver) {
  KspHandle ksp;
  petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  petsc_check(KSPSetOperators(ksp, shell, shell));
  petsc_check(KSPSetType(ksp, "trireme_cg"));
  petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 5000));
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, "trireme_block_jacobi"));
  petsc_check(KSPSolve(ksp, b, x));
  op->choose_row_order(1000, kAlways);
  petsc_check(VecSet(x, 0));
  petsc_check(KSPSolve(ksp, b, x));
  EXPECT_LE(residual(), 1.0001e-9);
}

}  // namespace
}  // namespace trireme
