// SPDX-License-Identifier: BSD-3-Clause
// What MatSetNearNullSpace was given reaches Trireme, and Trireme's modes reach PETSc.
#include "petsc/pc/near_nullspace.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "petsc/ksp_fixture.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

using NullSpaceHandle = PetscHandle<MatNullSpace, MatNullSpaceDestroy>;

constexpr PetscInt kSide = 6;  // of the grid, whose 36 rows are 12 nodes of 3 unknowns

class NearNullSpace : public testing::Test {
 protected:
  void SetUp() override {
    petsc_check(PetscOptionsClear(nullptr));
    mat = test::grid(kSide);
    petsc_check(MatGetLocalSize(mat, &rows, nullptr));
    petsc_check(MatGetOwnershipRange(mat, &first, nullptr));
  }
  void TearDown() override { petsc_check(PetscOptionsClear(nullptr)); }
  MatHandle mat;
  PetscInt rows = 0, first = 0;
};

TEST_F(NearNullSpace, HasWidthZeroWhereNobodyGaveIt) { EXPECT_EQ(near_nullspace_of(mat).width, 0); }

TEST_F(NearNullSpace, OfAProgramBeginsWithTheConstantThatItSaysItHas) {
  VecHandle vector;
  petsc_check(MatCreateVecs(mat, vector.put(), nullptr));
  for (PetscInt row = first; row < first + rows; ++row)  // orthogonal to the constant
    petsc_check(VecSetValue(vector, row, row % 2 == 0 ? 1.0 / 6 : -1.0 / 6, INSERT_VALUES));
  petsc_check(VecAssemblyBegin(vector));
  petsc_check(VecAssemblyEnd(vector));
  NullSpaceHandle space;
  Vec vectors[] = {vector};
  petsc_check(
      MatNullSpaceCreate(comm_of(static_cast<Mat>(mat)), PETSC_TRUE, 1, vectors, space.put()));
  petsc_check(MatSetNearNullSpace(mat, space));
  const multigrid::NearNullspace read = near_nullspace_of(mat);
  ASSERT_EQ(read.width, 2);
  ASSERT_EQ(std::ssize(read.values), 2 * rows);
  for (PetscInt i = 0; i < rows; ++i) {
    EXPECT_NEAR(read.values[2 * i], 1.0 / 6, 1e-16);
    EXPECT_EQ(read.values[2 * i + 1], (first + i) % 2 == 0 ? 1.0 / 6 : -1.0 / 6);
  }
}

// MatNullSpaceCreateRigidBody takes a vector of coordinates whose block size is the dimension.
TEST_F(NearNullSpace, OfMatNullSpaceCreateRigidBodyHasSixModes) {
  ASSERT_EQ(rows % 3, 0) << "each rank has whole nodes";
  VecHandle coordinates;
  petsc_check(VecCreate(comm_of(static_cast<Mat>(mat)), coordinates.put()));
  petsc_check(VecSetSizes(coordinates, rows, PETSC_DETERMINE));
  petsc_check(VecSetBlockSize(coordinates, 3));
  petsc_check(VecSetFromOptions(coordinates));
  Array<double> at(rows);
  for (PetscInt i = 0; i < rows; ++i) at[i] = std::sin(1.0 + 7.0 * static_cast<double>(first + i));
  set_local_values(coordinates, at);
  NullSpaceHandle space;
  petsc_check(MatNullSpaceCreateRigidBody(coordinates, space.put()));
  petsc_check(MatSetNearNullSpace(mat, space));
  const multigrid::NearNullspace read = near_nullspace_of(mat);
  ASSERT_EQ(read.width, 6);
  double sums[6] = {};  // of the x displacement of mode k over all nodes
  for (PetscInt i = 0; i < rows; ++i)
    for (int k = 0; k < 6; ++k)
      if ((first + i) % 3 == 0) sums[k] += read.values[6 * i + k];
  MPI_Allreduce(MPI_IN_PLACE, sums, 6, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  EXPECT_NEAR(sums[0], std::sqrt(12.0), 1e-13) << "mode 0 moves every node along x";
  for (int k = 1; k < 6; ++k) EXPECT_NEAR(sums[k], 0, 1e-13) << "mode " << k;
}

TEST_F(NearNullSpace, TakesModesAndTheirBlockSize) {
  ASSERT_EQ(rows % 3, 0) << "each rank has whole nodes";
  Modes modes{.values = Array<double>(rows * 2, 0.0), .width = 2, .block_size = 3};
  for (PetscInt i = 0; i < rows; ++i) modes.values[2 * i + (first + i) % 2] = 1 / std::sqrt(18.0);
  set_near_nullspace(mat, modes);
  const multigrid::NearNullspace read = near_nullspace_of(mat);
  EXPECT_EQ(read.width, 2);
  EXPECT_EQ(read.values, modes.values);
  PetscInt block_size = 0;
  petsc_check(MatGetBlockSize(mat, &block_size));
  EXPECT_EQ(block_size, 3);
}

TEST_F(NearNullSpace, LeavesTheBlockSizeToTheOption) {
  petsc_check(PetscOptionsSetValue(nullptr, "-mat_block_size", "1"));
  set_near_nullspace(mat, {.values = {}, .width = 0, .block_size = 3});
  PetscInt block_size = 0;
  petsc_check(MatGetBlockSize(mat, &block_size));
  EXPECT_EQ(block_size, 1);
  EXPECT_EQ(near_nullspace_of(mat).width, 0) << "constants need no vectors";
}

TEST_F(NearNullSpace, IsAskedForByMultigridAndWhatMayComeToIt) {
  const auto asks = [](const char* name) {
    SolverSpec solver;
    solver.preconditioner.emplace(name);
    return may_use_near_nullspace(solver);
  };
  for (const char* type : {"gamg", "hypre", "multigrid", "trireme_mg", "ml"})
    EXPECT_TRUE(asks(type)) << type;
  for (const char* type : {"none", "jacobi", "ilu", "trireme_chebyshev", "trireme_block_jacobi",
                           "trireme_pbjacobi", "vpbjacobi", "eisenstat"})
    EXPECT_FALSE(asks(type)) << type;
  SolverSpec automatic;
  automatic.preconditioner.reset();
  EXPECT_TRUE(may_use_near_nullspace(automatic));
  petsc_check(PetscOptionsSetValue(nullptr, "-pc_type", "gamg"));
  EXPECT_TRUE(asks("jacobi"));
  petsc_check(PetscOptionsSetValue(nullptr, "-pc_type", "jacobi"));
  EXPECT_FALSE(may_use_near_nullspace(automatic));
}

}  // namespace
}  // namespace trireme
