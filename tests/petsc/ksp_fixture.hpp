// SPDX-License-Identifier: BSD-3-Clause
// A fixture with a small system and a KSP for it, of Trireme's or of PETSc's types.
#pragma once

#include <gtest/gtest.h>
#include <petscksp.h>

#include <utility>

#include "petsc/ksp/ksp_types.hpp"
#include "petsc/shim.hpp"

namespace trireme::test {

class PetscEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    petsc_check(PetscInitializeNoArguments());
    petsc_check(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
    register_resident_types();
  }
  void TearDown() override { petsc_check(PetscFinalize()); }
};
inline const auto* const environment = testing::AddGlobalTestEnvironment(new PetscEnvironment);

// The 5-point stencil on an n x n grid, with upwind convection along x.
inline MatHandle grid(PetscInt n, double wind = 0) {
  MatHandle a;
  petsc_check(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, nullptr,
                           5, nullptr, a.put()));
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt x = row % n, y = row / n;
    const auto put = [&](bool inside, PetscInt column, double value) {
      if (inside) petsc_check(MatSetValue(a, row, column, value, INSERT_VALUES));
    };
    put(y > 0, row - n, -1);
    put(x > 0, row - 1, -1 - wind);
    put(true, row, 4 + wind + (row % 7));
    put(x + 1 < n, row + 1, -1);
    put(y + 1 < n, row + n, -1);
  }
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return a;
}

class ResidentKsp : public testing::Test {
 protected:
  void SetUp() override { petsc_check(PetscOptionsClear(nullptr)); }
  void TearDown() override { petsc_check(PetscOptionsClear(nullptr)); }

  void make(MatHandle matrix, const char* type, const char* pc_type) {
    a = std::move(matrix);
    petsc_check(MatCreateVecs(a, x.put(), b.put()));
    petsc_check(VecSetRandom(b, nullptr));
    petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
    petsc_check(KSPSetOperators(ksp, a, a));
    petsc_check(KSPSetType(ksp, type));
    petsc_check(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    petsc_check(PCSetType(pc, pc_type));
  }
  void option(const char* name, const char* value = nullptr) {
    petsc_check(PetscOptionsSetValue(nullptr, name, value));
  }
  KSPConvergedReason solve() {
    petsc_check(KSPSetFromOptions(ksp));
    petsc_check(KSPSolve(ksp, b, x));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    petsc_check(KSPGetConvergedReason(ksp, &reason));
    return reason;
  }
  PetscInt iterations() {
    PetscInt its = 0;
    petsc_check(KSPGetIterationNumber(ksp, &its));
    return its;
  }
  double relative_residual() {
    VecHandle r;
    petsc_check(VecDuplicate(b, r.put()));
    petsc_check(MatMult(a, x, r));
    petsc_check(VecAYPX(r, -1, b));
    PetscReal residual = 0, norm_b = 0;
    petsc_check(VecNorm(r, NORM_2, &residual));
    petsc_check(VecNorm(b, NORM_2, &norm_b));
    return residual / norm_b;
  }

  MatHandle a;
  VecHandle x, b;
  KspHandle ksp;
};

}  // namespace trireme::test
