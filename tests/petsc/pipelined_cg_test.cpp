// SPDX-License-Identifier: BSD-3-Clause
// The KSP type trireme_pipelined_cg on ranks of CPUs, against trireme_cg.
#include <cstdlib>
#include <string>

#include "petsc/ksp_fixture.hpp"

namespace trireme {
namespace {

using test::grid;

class PipelinedKsp : public test::ResidentKsp {};

TEST_F(PipelinedKsp, SolvesAsCgDoes) {
  for (const char* pc : {PCNONE, PCJACOBI, "trireme_chebyshev", "trireme_mg"})
    for (const KSPNormType norm : {KSP_NORM_UNPRECONDITIONED, KSP_NORM_PRECONDITIONED}) {
      SCOPED_TRACE(std::string(pc) + " norm " + std::to_string(norm));
      make(grid(30), "trireme_cg", pc);
      petsc_check(KSPSetNormType(ksp, norm));
      EXPECT_GT(solve(), 0);
      const PetscInt of_cg = iterations();
      make(grid(30), "trireme_pipelined_cg", pc);
      petsc_check(KSPSetNormType(ksp, norm));
      EXPECT_GT(solve(), 0);
      EXPECT_LE(std::abs(iterations() - of_cg), 1);
      EXPECT_LE(relative_residual(), norm == KSP_NORM_UNPRECONDITIONED ? 1.01e-9 : 1e-7);
      EXPECT_EQ(ksp_facts(ksp)->variant, "pipelined");
      EXPECT_EQ(ksp_facts(ksp)->executor, "host");
      EXPECT_FALSE(ksp_facts(ksp)->variant_times);
    }
}

TEST_F(PipelinedKsp, ZeroHasTheSolutionZero) {
  make(grid(9), "trireme_pipelined_cg", PCJACOBI);
  petsc_check(VecSet(b, 0));
  petsc_check(VecSet(x, 3));
  EXPECT_GT(solve(), 0);
  EXPECT_EQ(iterations(), 0);
  PetscReal norm = 1;
  petsc_check(VecNorm(x, NORM_2, &norm));
  EXPECT_EQ(norm, 0);
}

TEST_F(PipelinedKsp, RanksWithoutRowsTakePart) {
  make(grid(1), "trireme_pipelined_cg", PCJACOBI);
  EXPECT_GT(solve(), 0);
  EXPECT_LE(relative_residual(), 1e-9);
}

// One column after the other: a block would have no sums that run beside the product.
TEST_F(PipelinedKsp, SolvesForManyRightHandSides) {
  make(grid(12), "trireme_pipelined_cg", PCJACOBI);
  PetscInt rows = 0, all = 0;
  petsc_check(MatGetLocalSize(a, &rows, nullptr));
  petsc_check(MatGetSize(a, &all, nullptr));
  MatHandle many_b, many_x, product;
  for (MatHandle* dense : {&many_b, &many_x})
    petsc_check(
        MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, all, 5, nullptr, dense->put()));
  petsc_check(MatSetRandom(many_b, nullptr));
  petsc_check(KSPSetFromOptions(ksp));
  petsc_check(KSPMatSolve(ksp, many_b, many_x));
  EXPECT_EQ(ksp_facts(ksp)->variant, "pipelined");
  petsc_check(MatMatMult(a, many_x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.put()));
  petsc_check(MatAXPY(product, -1, many_b, SAME_NONZERO_PATTERN));
  PetscReal residual = 0, norm = 0;
  petsc_check(MatNorm(product, NORM_FROBENIUS, &residual));
  petsc_check(MatNorm(many_b, NORM_FROBENIUS, &norm));
  EXPECT_LE(residual, 1e-8 * norm);
}

TEST_F(PipelinedKsp, HasNoVariants) {
  option("-ksp_trireme_variant", "classic");
  make(grid(10), "trireme_pipelined_cg", PCJACOBI);
  solve();
  EXPECT_EQ(ksp_facts(ksp)->variant, "pipelined");  // the option stays unread
}

}  // namespace
}  // namespace trireme
