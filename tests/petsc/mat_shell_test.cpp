// SPDX-License-Identifier: BSD-3-Clause
// The shell against PETSc's own AIJ of the same matrix; run on 1, 2, 3 and 5 ranks.
#include "petsc/mat_shell.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "petsc/assembled_mat.hpp"
#include "petsc/mat_trireme.hpp"
#include "support/petsc_environment.hpp"
#include "support/random.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

// || A x - B x || / || A x || by MatMult, MatMultTranspose or whatever `apply` does.
template <class Apply>
double relative_difference(Mat a, Mat b, Apply&& apply) {
  VecHandle x, ya, yb;
  petsc_check(MatCreateVecs(a, x.put(), ya.put()));
  petsc_check(VecDuplicate(ya, yb.put()));
  PetscInt first = 0, last = 0;
  petsc_check(VecGetOwnershipRange(x, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(VecSetValue(x, row, test::Random(row).value<double>(), INSERT_VALUES));
  petsc_check(VecAssemblyBegin(x));
  petsc_check(VecAssemblyEnd(x));
  petsc_check(VecSet(yb, PETSC_MAX_REAL));
  apply(a, x, ya);
  apply(b, x, yb);
  PetscReal size = 0, difference = 0;
  petsc_check(VecNorm(ya, NORM_2, &size));
  petsc_check(VecAXPY(yb, -1, ya));
  petsc_check(VecNorm(yb, NORM_2, &difference));
  return size > 0 ? difference / size : difference;
}

const auto mult = [](Mat a, Vec x, Vec y) { petsc_check(MatMult(a, x, y)); };
const auto mult_transpose = [](Mat a, Vec x, Vec y) { petsc_check(MatMultTranspose(a, x, y)); };
const auto diagonal = [](Mat a, Vec, Vec y) { petsc_check(MatGetDiagonal(a, y)); };

class MatShellOnShape : public testing::TestWithParam<std::tuple<std::string, Cut>> {};

TEST_P(MatShellOnShape, AgreesWithAij) {
  const auto& [name, cut] = GetParam();
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>(name), cut);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.host_double) continue;
    SCOPED_TRACE(entry.name);
    const MatHandle shell =
        make_shell(std::make_shared<HostOperator>(matrix, std::string(entry.name)));
    for (const AijUse use : {AijUse::product, AijUse::preconditioner}) {
      const AssembledMat aij(matrix, use);
      EXPECT_LT(relative_difference(aij.mat(), shell, mult), 1e-14);
      EXPECT_LT(relative_difference(aij.mat(), shell, mult_transpose), 1e-14);
      EXPECT_EQ(relative_difference(aij.mat(), shell, diagonal), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatShellOnShape,
                         testing::Combine(testing::Values("OneByOne", "SomeRowsEmpty",
                                                          "OneDenseRow", "EveryLengthTo600"),
                                          testing::Values(Cut::by_nonzeros,
                                                          Cut::first_rank_empty)));

TEST(MatShell, KnowsItsOperatorAndNoOther) {
  const auto matrix =
      matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("RowsOf3"), Cut::by_nonzeros);
  const auto op = std::make_shared<HostOperator>(matrix, "csr");
  const MatHandle shell = make_shell(op);
  EXPECT_EQ(shell_operator(shell), op);
  const AssembledMat aij(matrix, AijUse::product);
  EXPECT_EQ(shell_operator(aij.mat()), nullptr);
}

TEST(MatShell, GivesBackItsMemoryAndItsShareOfTheOperator) {
  const auto matrix =
      matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("RowsOf3"), Cut::by_nonzeros);
  const auto op = std::make_shared<HostOperator>(matrix, "csr");
  {
    const MatHandle shell = make_shell(op);
    EXPECT_EQ(op.use_count(), 2);
  }
  EXPECT_EQ(op.use_count(), 1);
}

TEST(AssembledMat, RecordsItsProducts) {
  const auto matrix =
      matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("RowsOf3"), Cut::by_nonzeros);
  AssembledMat aij(matrix, AijUse::product);
  aij.time_products();
  const auto op = std::make_shared<HostOperator>(matrix, "csr");
  const MatHandle shell = make_shell(op);
  EXPECT_LT(relative_difference(aij.mat(), shell, mult), 1e-14);
  EXPECT_EQ(aij.times().count(), 1);
}

TEST(AssembledMat, PreconditionersGetEveryDiagonalEntryAndSortedColumns) {
  CsrMatrix<double> a = test::matrix_with_row_lengths<double>(test::random_lengths(40, 0, 9), 40, 3,
                                                              test::Columns::unsorted);
  const AssembledMat aij(matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros),
                         AijUse::preconditioner);
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(aij.mat(), &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    petsc_check(MatGetRow(aij.mat(), row, &count, &columns, nullptr));
    EXPECT_NE(std::find(columns, columns + count, row), columns + count);
    EXPECT_TRUE(std::is_sorted(columns, columns + count));
    petsc_check(MatRestoreRow(aij.mat(), row, &count, &columns, nullptr));
  }
}

// What a PETSc program does: assemble, one call, solve.
MatHandle assembled_laplacian(PetscInt n, double shift) {
  MatHandle a;
  petsc_check(MatCreateAIJ(MPI_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, nullptr, 2, nullptr,
                           a.put()));
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    if (row > 0) petsc_check(MatSetValue(a, row, row - 1, -1, INSERT_VALUES));
    if (row + 1 < n) petsc_check(MatSetValue(a, row, row + 1, -1, INSERT_VALUES));
    petsc_check(MatSetValue(a, row, row, 2 + shift, INSERT_VALUES));
  }
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return a;
}

TEST(MatCreateTrireme, MakesAnOperatorOfAnAssembledMatAndFollowsItsValues) {
  const MatHandle a = assembled_laplacian(50, 0.5);
  Mat raw = nullptr;
  petsc_check(MatCreateTrireme(a, {.kernel = "csr"}, &raw));
  const MatHandle shell(raw);
  EXPECT_LT(relative_difference(a, shell, mult), 1e-15);
  EXPECT_LT(relative_difference(a, shell, mult_transpose), 1e-15);

  const MatHandle changed = assembled_laplacian(50, 7);
  petsc_check(MatTriremeUpdateValues(shell, changed));
  EXPECT_LT(relative_difference(changed, shell, mult), 1e-15);
  EXPECT_EQ(relative_difference(changed, shell, diagonal), 0);
}

TEST(MatCreateTrireme, UnknownKernelIsAPetscErrorWithOurWords) {
  const MatHandle a = assembled_laplacian(50, 0);
  Mat shell = nullptr;
  const PetscErrorCode error = MatCreateTrireme(a, {.kernel = "csrr"}, &shell);
  ASSERT_NE(error, kPetscSuccess);
  try {
    petsc_check(error);
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("unknown kernel 'csrr'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace trireme
