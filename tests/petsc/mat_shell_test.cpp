// SPDX-License-Identifier: BSD-3-Clause
// The shell against PETSc's own AIJ of the same matrix; run on 1, 2, 3 and 5 ranks.
#include "petsc/mat/mat_shell.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "petsc/compare_mats.hpp"
#include "petsc/mat/aij_operator.hpp"
#include "petsc/mat/assembled_mat.hpp"
#include "petsc/private_headers.hpp"
#include "support/petsc_environment.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

using test::diagonal;
using test::mult;
using test::mult_transpose;
using test::relative_difference;

bool refused_on_a_rank(std::string_view kernel, const DistributedMatrix& matrix) {
  const bool here = test::must_refuse(kernel, matrix.blocks.local.view());
  return sum_over_ranks(matrix.comm, here ? 1 : 0) > 0;
}

class MatShellOnShape : public testing::TestWithParam<std::tuple<std::string, Cut>> {};

TEST_P(MatShellOnShape, AgreesWithAij) {
  const auto& [name, cut] = GetParam();
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>(name), cut);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.host_double || refused_on_a_rank(entry.name, *matrix)) continue;
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

// Rows that ascend share the matrix's arrays, the others are copies, and so are rows that lack
// their diagonals where a preconditioner needs them.
TEST(AssembledMat, TakesNewValuesIntoSharedArraysAndCopies) {
  for (const test::Columns order : {test::Columns::ascending, test::Columns::unsorted})
    for (const AijUse use : {AijUse::product, AijUse::preconditioner}) {
      SCOPED_TRACE(testing::Message() << "sorted " << (order == test::Columns::ascending)
                                      << ", for a product " << (use == AijUse::product));
      const CsrMatrix<double> a =
          test::matrix_with_row_lengths<double>(test::random_lengths(60, 0, 9), 60, 3, order);
      const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
      AssembledMat aij(matrix, use);
      const auto of_petsc = std::make_shared<AijOperator>(matrix);
      const MatHandle petsc_shell = make_shell(of_petsc);
      for (int time = 1; time <= 2; ++time) {
        for (CsrMatrix<double>* block : {&matrix->blocks.local, &matrix->blocks.ghost})
          for (std::size_t k = 0; k < block->values.size(); ++k)
            block->values[k] = static_cast<double>(1 + (k + time) % 11);
        const PetscObjectState before = state_of(aij.mat());
        aij.refresh_values();
        EXPECT_GT(state_of(aij.mat()), before) << "PETSc makes its preconditioners anew";
        const MatHandle shell = make_shell(std::make_shared<HostOperator>(matrix, "csr"));
        EXPECT_LT(relative_difference(shell, aij.mat(), mult), 1e-14);
        of_petsc->refresh_values();
        EXPECT_LT(relative_difference(shell, petsc_shell, mult), 1e-14);
      }
    }
}

TEST(MatShell, AnotherOperatorCountsAsAChangeWhereSolversStartAnew) {
  const auto matrix =
      matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("RowsOf3"), Cut::by_nonzeros);
  const MatHandle shell = make_shell(std::make_shared<HostOperator>(matrix, "csr"));
  for (const bool anew : {false, true}) {
    const auto other = std::make_shared<HostOperator>(matrix, "csr");
    const PetscObjectState before = state_of(static_cast<Mat>(shell));
    replace_operator(shell, other, anew);
    EXPECT_EQ(shell_operator(shell), other);
    EXPECT_EQ(state_of(static_cast<Mat>(shell)) > before, anew);
  }
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

}  // namespace
}  // namespace trireme
