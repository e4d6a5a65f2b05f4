// SPDX-License-Identifier: BSD-3-Clause
// What changes between two solves with one KSP is noticed: the second solve is, to the last bit,
// the first one of a new KSP for what is there then; on 1 and several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>
#include <trireme/petsc.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "petsc/ksp_fixture.hpp"
#include "petsc/mat/mat_trireme.hpp"

namespace trireme {
namespace {

using namespace test;

// A KSP, its matrix and the matrix of its preconditioner.
struct System {
  MatHandle a, p, other;  // `other` is for a change that puts it in
  VecHandle b, x;
  KspHandle ksp;

  PC pc() const {
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    return pc;
  }
};

struct Result {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  double norm = 0, sum = 0;  // of the residual, and x . b
  bool operator==(const Result&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Result& result) {
  return out << KSPConvergedReasons[result.reason] << ", " << result.iterations << " iterations, "
             << result.norm << ", " << result.sum;
}

Result solve(System& system) {
  Result result;
  petsc_check(KSPSetFromOptions(system.ksp));
  petsc_check(VecSet(system.x, 0));
  petsc_check(KSPSolve(system.ksp, system.b, system.x));
  petsc_check(KSPGetConvergedReason(system.ksp, &result.reason));
  petsc_check(KSPGetIterationNumber(system.ksp, &result.iterations));
  petsc_check(KSPGetResidualNorm(system.ksp, &result.norm));
  petsc_check(VecDot(system.x, system.b, &result.sum));
  return result;
}

// Multiplies rows and columns by numbers from 1 to 4, so that the matrix stays symmetric.
void scale_unevenly(Mat mat) {
  VecHandle scale;
  PetscInt first = 0, last = 0;
  petsc_check(MatCreateVecs(mat, nullptr, scale.put()));
  petsc_check(VecGetOwnershipRange(scale, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(VecSetValue(scale, row, 1.0 + (row % 5) * 0.75, INSERT_VALUES));
  petsc_check(VecAssemblyBegin(scale));
  petsc_check(VecAssemblyEnd(scale));
  petsc_check(MatDiagonalScale(mat, scale, scale));
}

// Row groups of this width.
void group(Mat mat, PetscInt width) {
  PetscInt rows = 0;
  petsc_check(MatGetLocalSize(mat, &rows, nullptr));
  std::vector<PetscInt> sizes;
  for (PetscInt covered = 0; covered < rows; covered += sizes.back())
    sizes.push_back(std::min(rows - covered, width));
  petsc_check(MatSetVariableBlockSizes(mat, static_cast<PetscInt>(sizes.size()), sizes.data()));
}

void option(const char* name, const char* value) {
  petsc_check(PetscOptionsSetValue(nullptr, name, value));
}

struct Change {
  const char* name;
  const char* type;  // of the KSP
  const char* pc;
  std::function<void(System&)> make;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"rtol", "trireme_cg", PCJACOBI,
       [](System& s) {
         petsc_check(KSPSetTolerances(s.ksp, 1e-3, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
       }},
      {"atol", "trireme_minres", PCJACOBI,
       [](System& s) {
         petsc_check(KSPSetTolerances(s.ksp, 0, 1e-2, PETSC_DEFAULT, PETSC_DEFAULT));
       }},
      {"limit", "trireme_cg", PCJACOBI,
       [](System& s) {
         petsc_check(KSPSetTolerances(s.ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 3));
       }},
      {"norm", "trireme_cg", PCJACOBI,
       [](System& s) { petsc_check(KSPSetNormType(s.ksp, KSP_NORM_PRECONDITIONED)); }},
      {"natural norm", "trireme_cg", PCJACOBI,
       [](System& s) { petsc_check(KSPSetNormType(s.ksp, KSP_NORM_NATURAL)); }},
      {"KSP type", "trireme_cg", PCJACOBI,
       [](System& s) { petsc_check(KSPSetType(s.ksp, "trireme_minres")); }},
      {"PC type", "trireme_cg", PCJACOBI,
       [](System& s) { petsc_check(PCSetType(s.pc(), PCNONE)); }},
      {"another PC type", "trireme_cg", PCJACOBI,
       [](System& s) { petsc_check(PCSetType(s.pc(), PCTRIREMECHEBYSHEV)); }},
      {"degree", "trireme_cg", PCTRIREMECHEBYSHEV,
       [](System&) { option("-pc_trireme_degree", "2"); }},
      {"block size", "trireme_cg", PCTRIREMEBLOCKJACOBI,
       [](System&) { option("-pc_trireme_block_size", "8"); }},
      {"row groups", "trireme_bicgstab", PCTRIREMEVPBJACOBI, [](System& s) { group(s.p, 5); }},
      {"options of multigrid", "trireme_cg", PCTRIREMEMG,
       [](System&) { option("-pc_trireme_mg_degree", "3"); }},
      {"variant", "trireme_cg", PCJACOBI,
       [](System&) { option("-ksp_trireme_variant", "single_reduction"); }},
      {"values", "trireme_cg", PCJACOBI,
       [](System& s) {
         scale_unevenly(s.a);
         petsc_check(MatCopy(s.a, s.p, SAME_NONZERO_PATTERN));
       }},
      {"values of A alone", "trireme_cg", PCJACOBI, [](System& s) { scale_unevenly(s.a); }},
      {"values of P alone", "trireme_cg", PCJACOBI, [](System& s) { scale_unevenly(s.p); }},
      {"values of P alone, blocks", "trireme_cg", PCTRIREMEBLOCKJACOBI,
       [](System& s) { scale_unevenly(s.p); }},
      {"another P", "trireme_bicgstab", PCJACOBI,
       [](System& s) { petsc_check(KSPSetOperators(s.ksp, s.a, s.other)); }},
      {"another A", "trireme_cg", PCJACOBI,
       [](System& s) { petsc_check(KSPSetOperators(s.ksp, s.other, s.other)); }},
      {"another A, multigrid", "trireme_cg", PCTRIREMEMG,
       [](System& s) { petsc_check(KSPSetOperators(s.ksp, s.other, s.other)); }},
      {"test relative to r0", "trireme_cg", PCJACOBI,
       [](System& s) {
         petsc_check(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
         petsc_check(KSPConvergedDefaultSetUIRNorm(s.ksp));
         petsc_check(VecScale(s.b, 3));
       }},
      {"right-hand side", "trireme_bicgstab", PCJACOBI,
       [](System& s) { petsc_check(VecShift(s.b, 5)); }},
  };
  return all;
}

void restore_values(System& s) {
  const MatHandle values = grid(14);
  for (Mat mat : {static_cast<Mat>(s.a), static_cast<Mat>(s.p)})
    petsc_check(MatCopy(values, mat, SAME_NONZERO_PATTERN));
}

// The preconditioner cannot be set up.
void solve_with_zeros(System& s) {
  petsc_check(MatZeroEntries(s.a));
  petsc_check(MatZeroEntries(s.p));
  petsc_check(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr));
  EXPECT_ANY_THROW(solve(s));
  petsc_check(PetscPopErrorHandler());
  restore_values(s);
}

// What leaves no trace: the solve after it is the first one of a new KSP.
const std::vector<Change>& detours() {
  static const std::vector<Change> all = {
      {"KSPReset", "trireme_cg", PCJACOBI,
       [](System& s) {
         petsc_check(KSPReset(s.ksp));
         petsc_check(KSPSetOperators(s.ksp, s.a, s.p));
       }},
      {"PCReset", "trireme_cg", PCTRIREMEMG,
       [](System& s) {
         petsc_check(PCReset(s.pc()));
         petsc_check(KSPSetOperators(s.ksp, s.a, s.p));
       }},
      {"another KSP type", "trireme_cg", PCTRIREMECHEBYSHEV,
       [](System& s) {
         petsc_check(KSPSetType(s.ksp, "trireme_minres"));
         solve(s);
         petsc_check(KSPSetType(s.ksp, "trireme_cg"));
       }},
      {"PETSc's KSP type", "trireme_cg", PCTRIREMEMG,
       [](System& s) {
         petsc_check(KSPSetType(s.ksp, KSPCG));
         solve(s);
         petsc_check(KSPSetType(s.ksp, "trireme_cg"));
       }},
      {"another PC type", "trireme_bicgstab", PCTRIREMEBLOCKJACOBI,
       [](System& s) {
         petsc_check(PCSetType(s.pc(), PCJACOBI));
         solve(s);
         petsc_check(PCSetType(s.pc(), PCTRIREMEBLOCKJACOBI));
       }},
      {"another matrix", "trireme_cg", PCTRIREMEMG,
       [](System& s) {
         petsc_check(KSPSetOperators(s.ksp, s.other, s.other));
         solve(s);
         petsc_check(KSPSetOperators(s.ksp, s.a, s.p));
       }},
      {"a solve that reaches the limit", "trireme_bicgstab", PCJACOBI,
       [](System& s) {
         petsc_check(KSPSetTolerances(s.ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 1));
         EXPECT_EQ(solve(s).reason, KSP_DIVERGED_ITS);
         petsc_check(KSPSetTolerances(s.ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
       }},
      {"a right-hand side of NaN", "trireme_cg", PCTRIREMEMG,
       [](System& s) {
         petsc_check(VecSet(s.b, std::numeric_limits<double>::quiet_NaN()));
         EXPECT_EQ(solve(s).reason, KSP_DIVERGED_NANORINF);
         petsc_check(VecSet(s.b, 1));
       }},
      {"a zero matrix, blocks", "trireme_cg", PCTRIREMEBLOCKJACOBI, solve_with_zeros},
      {"a zero matrix, multigrid", "trireme_cg", PCTRIREMEMG, solve_with_zeros},
      {"values of NaN", "trireme_cg", PCJACOBI,
       [](System& s) {
         petsc_check(MatScale(s.a, std::numeric_limits<double>::quiet_NaN()));
         EXPECT_LT(solve(s).reason, 0);
         restore_values(s);
       }},
  };
  return all;
}

System make_system(const Change& change, bool trireme) {
  System s;
  petsc_check(PetscOptionsClear(nullptr));
  s.a = grid(14);
  s.p = grid(14);
  s.other = grid(14);
  scale_unevenly(s.other);
  if (trireme)
    for (MatHandle* mat : {&s.a, &s.p, &s.other}) {
      Mat made = mat->release();
      petsc_check(MatConvert(made, MATTRIREME, MAT_INPLACE_MATRIX, &made));
      *mat = MatHandle(made);
    }
  group(s.p, 2);
  option("-pc_trireme_mg_coarsest_rows", "20");
  petsc_check(MatCreateVecs(s.a, s.x.put(), s.b.put()));
  petsc_check(VecSet(s.b, 1));
  petsc_check(KSPCreate(PETSC_COMM_WORLD, s.ksp.put()));
  petsc_check(KSPSetOperators(s.ksp, s.a, s.p));
  petsc_check(KSPSetType(s.ksp, change.type));
  petsc_check(KSPSetTolerances(s.ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  petsc_check(PCSetType(s.pc(), change.pc));
  return s;
}

class SecondSolve : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { petsc_check(TriremeInitializePackage()); }
  void TearDown() override { petsc_check(PetscOptionsClear(nullptr)); }
};

TEST_P(SecondSolve, IsThatOfANewKsp) {
  for (const Change& change : changes()) {
    SCOPED_TRACE(change.name);
    System used = make_system(change, GetParam());
    const Result before = solve(used);
    change.make(used);
    const Result second = solve(used);
    System fresh = make_system(change, GetParam());
    change.make(fresh);
    const Result expected = solve(fresh);
    EXPECT_EQ(second, expected);
    EXPECT_NE(before, expected) << "the change has no effect";
    EXPECT_EQ(solve(used), expected) << "a third solve";
  }
}

// The rows' sizes are those of the new values, though the preconditioner is that of the old ones.
TEST_P(SecondSolve, WeighsTheRowsOfNewValuesWithAKeptPreconditioner) {
  System s = make_system({"", "trireme_bicgstab", PCJACOBI, nullptr}, GetParam());
  petsc_check(KSPSetOperators(s.ksp, s.a, s.a));
  EXPECT_EQ(solve(s).reason, KSP_CONVERGED_RTOL);
  petsc_check(KSPSetReusePreconditioner(s.ksp, PETSC_TRUE));
  VecHandle scale, residual;
  petsc_check(VecDuplicate(s.b, scale.put()));
  petsc_check(VecDuplicate(s.b, residual.put()));
  petsc_check(VecSet(scale, 1));
  for (const PetscInt row : {3, 70, 190}) petsc_check(VecSetValue(scale, row, 1e4, INSERT_VALUES));
  petsc_check(VecAssemblyBegin(scale));
  petsc_check(VecAssemblyEnd(scale));
  petsc_check(MatDiagonalScale(s.a, scale, nullptr));
  petsc_check(VecPointwiseMult(s.b, s.b, scale));
  EXPECT_EQ(solve(s).reason, KSP_CONVERGED_RTOL);
  petsc_check(MatMult(s.a, s.x, residual));
  petsc_check(VecAYPX(residual, -1, s.b));
  petsc_check(VecPointwiseDivide(residual, residual, scale));
  petsc_check(VecPointwiseDivide(s.b, s.b, scale));
  PetscReal norm = 0, of_b = 0;
  petsc_check(VecNorm(residual, NORM_2, &norm));
  petsc_check(VecNorm(s.b, NORM_2, &of_b));
  EXPECT_LE(norm, 1e-8 * of_b);
}

TEST_P(SecondSolve, IsNotChangedByADetour) {
  for (const Change& detour : detours()) {
    SCOPED_TRACE(detour.name);
    System used = make_system(detour, GetParam());
    const Result expected = solve(used);
    EXPECT_EQ(expected.reason, KSP_CONVERGED_RTOL);
    detour.make(used);
    EXPECT_EQ(solve(used), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(OfAijAndTrireme, SecondSolve, testing::Bool());

}  // namespace
}  // namespace trireme
