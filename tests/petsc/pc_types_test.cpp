// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners of the resident engine as PC types, on 1 and several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "petsc/ksp_fixture.hpp"
#include "petsc/pc/petsc_preconditioners.hpp"

namespace trireme {
namespace {

using namespace test;

TEST_F(ResidentKsp, PreconditionersWithParametersTakeFewerIterationsThanJacobi) {
  make(grid(40), "trireme_cg", PCJACOBI);
  EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
  const PetscInt by_jacobi = iterations();
  for (const char* pc : {"trireme_block_jacobi", "trireme_chebyshev"}) {
    option("-pc_trireme_block_size", "8");
    make(grid(40), "trireme_cg", pc);
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
    EXPECT_LT(iterations(), by_jacobi) << pc;
    EXPECT_LE(relative_residual(), 1.0001e-9);
  }
}

// Each rank has the same tridiagonal block, coupled to the same rows of its two neighbours in a
// ring. A right-hand side with the same numbers on each rank would hide the eigenvectors that
// differ between ranks.
MatHandle ring_of_equal_parts(PetscInt rows_per_rank) {
  PetscMPIInt ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  const PetscInt n = rows_per_rank * ranks;
  MatHandle a;
  petsc_check(MatCreateAIJ(PETSC_COMM_WORLD, rows_per_rank, rows_per_rank, n, n, 5, nullptr, 5,
                           nullptr, a.put()));
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    petsc_check(MatSetValue(a, row, row, 4, ADD_VALUES));
    for (const PetscInt other : {row - 1, row + 1})
      if (first <= other && other < last) petsc_check(MatSetValue(a, row, other, -1, ADD_VALUES));
    for (const PetscInt other : {row + rows_per_rank, row + n - rows_per_rank})
      petsc_check(MatSetValue(a, row, other % n, -0.95, ADD_VALUES));
  }
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return a;
}

TEST_F(ResidentKsp, ChebyshevSeesTheWholeSpectrumOnEqualParts) {
  for (const char* degree : {"2", "3", "4"}) {
    option("-pc_trireme_degree", degree);
    make(ring_of_equal_parts(300), "trireme_cg", "trireme_chebyshev");
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL) << degree;
    EXPECT_LE(iterations(), 40) << degree;
    EXPECT_LE(relative_residual(), 1.0001e-9);
  }
}

// The number of iterations is compared with that of PETSc's CG with the same preconditioner.
TEST_F(ResidentKsp, PointBlockJacobiTakesAsManyIterationsAsPetscs) {
  PetscMPIInt ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  for (const auto& [size, petsc, resident] : {std::tuple{4, PCPBJACOBI, "trireme_pbjacobi"},
                                              std::tuple{0, PCVPBJACOBI, "trireme_vpbjacobi"},
                                              std::tuple{1, PCPBJACOBI, "trireme_pbjacobi"}}) {
    const auto make_with = [&, blocks = size](const char* type, const char* pc) {
      make(grid(36), type, pc);
      PetscInt rows = 0;
      petsc_check(MatGetLocalSize(a, &rows, nullptr));
      std::vector<PetscInt> sizes;  // 1, 2, 3, .. 7, 1, 2, ..
      for (PetscInt covered = 0; covered < rows; covered += sizes.back())
        sizes.push_back(std::min<PetscInt>(rows - covered, 1 + sizes.size() % 7));
      if (blocks > 0)
        petsc_check(MatSetBlockSize(a, blocks));
      else
        petsc_check(MatSetVariableBlockSizes(a, sizes.size(), sizes.data()));
      petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    };
    make_with(KSPCG, petsc);
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL);
    const PetscInt expected = iterations();
    for (const char* pc : {petsc, resident}) {
      make_with("trireme_cg", pc);
      EXPECT_EQ(solve(), KSP_CONVERGED_RTOL) << pc;
      EXPECT_NEAR(iterations(), expected, 1) << pc << " " << size;
      EXPECT_LE(relative_residual(), 1.0001e-9);
    }
  }
}

// Sets row groups of `first` rows on the first rank, and of one row on the other ranks.
void group_rows(Mat a, PetscInt first) {
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  PetscInt rows = 0;
  petsc_check(MatGetLocalSize(a, &rows, nullptr));
  std::vector<PetscInt> sizes;
  for (PetscInt covered = 0; covered < rows; covered += sizes.back())
    sizes.push_back(std::min(rows - covered, rank == 0 ? first : 1));
  petsc_check(MatSetVariableBlockSizes(a, sizes.size(), sizes.data()));
}

TEST_F(ResidentKsp, RowGroupsMayDifferInWidthFromRankToRank) {
  for (const char* method : {"trireme_cg", "trireme_bicgstab"}) {
    make(grid(24), method, "trireme_vpbjacobi");
    for (const PetscInt first : {3, 1, 4}) {  // the groups change on the first rank only
      group_rows(a, first);
      EXPECT_EQ(solve(), KSP_CONVERGED_RTOL) << first;
      EXPECT_LE(relative_residual(), 1.0001e-9);
    }
  }
}

// PETSc's factors and ours have the same name in cases and as PC types.
TEST(PetscPreconditioners, AreNoneOfTriremes) {
  for (const char* word : {PCILU, PCICC}) {
    EXPECT_FALSE(petsc_preconditioner(solvers::AnyPreconditioner(word))) << word;
    EXPECT_TRUE(petsc_preconditioner(solvers::AnyPreconditioner::of_type(word))) << word;
  }
  EXPECT_TRUE(petsc_preconditioner(solvers::AnyPreconditioner(PCGAMG)));
}

TEST_F(ResidentKsp, MissingRowGroupsAreRefused) {
  make(grid(8), "trireme_cg", "trireme_vpbjacobi");
  EXPECT_ANY_THROW(solve());
}

}  // namespace
}  // namespace trireme
