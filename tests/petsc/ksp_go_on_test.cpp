// SPDX-License-Identifier: BSD-3-Clause
// A KSP of a resident type goes on from where another KSP was stopped, on 1 and several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>

#include <string>

#include "base/error.hpp"
#include "petsc/ksp_fixture.hpp"

namespace trireme {
namespace {

using namespace test;

class KspGoesOn : public ResidentKsp {
 protected:
  struct Way {
    const char *type, *pc, *variant;
    KSPNormType norm = KSP_NORM_UNPRECONDITIONED;
    bool from_first_residual = false;
  };

  void make_for(const Way& way, PetscInt max_iterations) {
    petsc_check(PetscOptionsClear(nullptr));
    if (*way.variant) option("-ksp_trireme_variant", way.variant);
    const bool bicgstab = std::string(way.type) == "trireme_bicgstab";
    make(grid(50, bicgstab ? 0.5 : 0), way.type, way.pc);
    petsc_check(KSPSetNormType(ksp, way.norm));
    petsc_check(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, max_iterations));
    if (way.from_first_residual) option("-ksp_converged_use_initial_residual_norm");
  }

  // Solves in pieces of `piece` iterations. Each piece has a new KSP, which gets only x and the
  // StoppedSolve of the KSP before. Returns the number of all iterations.
  PetscInt iterations_in_pieces(const Way& way, PetscInt piece) {
    solvers::StoppedSolve stopped;
    VecHandle so_far;
    for (PetscInt limit = piece;; limit += piece) {
      make_for(way, limit);
      if (limit > piece) {
        petsc_check(VecCopy(so_far, x));
        petsc_check(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
        ksp_go_on(ksp, stopped);
      }
      const KSPConvergedReason reason = solve();
      EXPECT_TRUE(reason == KSP_CONVERGED_RTOL || reason == KSP_DIVERGED_ITS) << reason;
      if (reason != KSP_DIVERGED_ITS) return iterations();
      EXPECT_EQ(iterations(), limit) << "the iterations before the stop must count";
      if (iterations() != limit) return -1;
      stopped = ksp_stopped_solve(ksp);
      so_far = std::move(x);
    }
  }
};

TEST_F(KspGoesOn, WithoutLosingIterations) {
  const Way ways[] = {
      {"trireme_cg", PCJACOBI, "classic"},
      {"trireme_cg", PCJACOBI, "single_reduction"},
      {"trireme_cg", PCNONE, "classic", KSP_NORM_NATURAL},
      {"trireme_cg", "trireme_pbjacobi", "single_reduction", KSP_NORM_PRECONDITIONED},
      {"trireme_cg", "trireme_chebyshev", "classic"},
      {"trireme_cg", PCJACOBI, "single_reduction", KSP_NORM_UNPRECONDITIONED, true},
      {"trireme_bicgstab", PCJACOBI, ""},
      {"trireme_bicgstab", "trireme_pbjacobi", ""}};
  for (const Way& way : ways) {
    SCOPED_TRACE(std::string(way.type) + " " + way.pc + " " + way.variant);
    make_for(way, 2000);
    ASSERT_EQ(solve(), KSP_CONVERGED_RTOL);
    const PetscInt whole = iterations();
    const bool cg = std::string(way.type) == "trireme_cg";
    for (const PetscInt piece : {1, 9}) {
      EXPECT_LE(iterations_in_pieces(way, piece), cg ? whole + 1 : whole * 5 / 4 + 2);
      if (way.norm == KSP_NORM_UNPRECONDITIONED) {
        EXPECT_LE(relative_residual(), 1.02e-9);
      }
    }
  }
}

TEST_F(KspGoesOn, OnlyByAResidentType) {
  make(grid(10), KSPCG, PCNONE);
  EXPECT_THROW(ksp_stopped_solve(ksp), Error);
  EXPECT_THROW(ksp_go_on(ksp, {}), Error);
}

}  // namespace
}  // namespace trireme
