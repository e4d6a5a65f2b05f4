// SPDX-License-Identifier: BSD-3-Clause
// The exit code of every reason for which a KSP may end, and solves that diverge. Run on 1 and 3
// ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "app/solved_cases.hpp"
#include "io/problem_file.hpp"
#include "petsc/reasons.hpp"

namespace trireme {
namespace {

using namespace test;

// A CG that ends for the given reason, by a convergence test that says so.
Verdict verdict_by(KSPConvergedReason reason) {
  constexpr PetscInt rows = 12;
  MatHandle a;
  petsc_check(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, 1, nullptr, 0,
                           nullptr, a.put()));
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(MatSetValue(a, row, row, 1.0 + static_cast<double>(row), INSERT_VALUES));
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  VecHandle x, b;
  petsc_check(MatCreateVecs(a, x.put(), b.put()));
  petsc_check(VecSet(b, 1));
  KspHandle ksp;
  petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  petsc_check(KSPSetOperators(ksp, a, a));
  petsc_check(KSPSetType(ksp, KSPCG));
  PC pc = nullptr;
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCSetType(pc, PCNONE));
  const auto say = [](KSP, PetscInt iteration, PetscReal, KSPConvergedReason* into,
                      void* context) -> PetscErrorCode {
    *into = iteration < 2 ? KSP_CONVERGED_ITERATING : *static_cast<KSPConvergedReason*>(context);
    return kPetscSuccess;
  };
  petsc_check(KSPSetConvergenceTest(ksp, say, &reason, nullptr));
  petsc_check(KSPSolve(ksp, b, x));
  return verdict_of(ksp);
}

struct Meaning {
  int reason;
  ExitCode code;
  const char* words;
};

// PETSc's numbers; 0 is a solve that has not begun.
constexpr Meaning kMeanings[] = {
    {1, ExitCode::converged, "converged: relative tolerance"},
    {2, ExitCode::converged, "converged: relative tolerance"},
    {3, ExitCode::converged, "converged: absolute tolerance"},
    {4, ExitCode::converged, "converged: the iterations asked for"},
    {8, ExitCode::converged, "converged"},
    {9, ExitCode::converged, "converged: absolute tolerance"},
    {-2, ExitCode::not_converged, "not converged"},
    {-3, ExitCode::not_converged, "maximum iterations"},
    {-4, ExitCode::not_converged, "divergence bound"},
    {-5, ExitCode::breakdown, "another method"},
    {-6, ExitCode::breakdown, "another method"},
    {-7, ExitCode::breakdown, "not symmetric"},
    {-8, ExitCode::breakdown, "preconditioner is indefinite"},
    {-9, ExitCode::breakdown, "NaN or infinity"},
    {-10, ExitCode::breakdown, "not positive definite"},
    {-11, ExitCode::breakdown, "could not be built"},
};

TEST(Verdict, OfEveryReasonHasItsExitCodeAndWords) {
  for (const Meaning& meaning : kMeanings) {
    SCOPED_TRACE(meaning.reason);
    const Verdict verdict = verdict_by(static_cast<KSPConvergedReason>(meaning.reason));
    EXPECT_EQ(static_cast<int>(verdict.reason), meaning.reason);
    EXPECT_EQ(verdict.exit_code, meaning.code);
    EXPECT_EQ(verdict.converged, meaning.code == ExitCode::converged);
    EXPECT_NE(verdict.text.find(meaning.words), std::string::npos) << verdict.text;
    EXPECT_EQ(verdict.text.starts_with("converged"), verdict.converged) << verdict.text;
    const std::string name = fmt::format(" ({})", KSPConvergedReasons[meaning.reason]);
    EXPECT_TRUE(verdict.text.ends_with(name)) << verdict.text;
  }
}

TEST(Verdict, OfASolveThatHasNotBegunIsNotConverged) {
  KspHandle ksp;
  petsc_check(KSPCreate(PETSC_COMM_WORLD, ksp.put()));
  petsc_check(KSPSetType(ksp, KSPCG));
  const Verdict verdict = verdict_of(ksp);
  EXPECT_EQ(verdict.exit_code, ExitCode::not_converged);
  EXPECT_FALSE(verdict.converged);
}

TEST(RunCase, DivergenceIsNotConverged) {
  // Without a preconditioner I - A has eigenvalues down to -7; a bound below 1 is met at once.
  struct Diverging {
    const char *solver, *bound;
  };
  for (const auto& [solver, bound] :
       {Diverging{"engine: petsc, method: richardson, preconditioner: none", "1e5"},
        Diverging{"engine: petsc, method: cg", "0.5"},
        Diverging{"engine: resident, method: cg", "0.5"},
        Diverging{"engine: resident, method: bicgstab", "0.5"}}) {
    SCOPED_TRACE(solver);
    const PetscOption divtol("-ksp_divtol", bound);
    const RunOutcome run =
        solve("generate: poisson2d, n: 12", fmt::format("device: cpu\nsolver: {{{}}}", solver))
            .runs[0];
    EXPECT_EQ(run.exit_code, ExitCode::not_converged);
    EXPECT_FALSE(run.converged);
    EXPECT_EQ(run.petsc_reason, -4);
    EXPECT_NE(run.reason.find("DIVERGED_DTOL"), std::string::npos) << run.reason;
  }
}

// The Laplacian of a path without boundary conditions, whose range is the vectors that add up to zero.
RunOutcome solved_without_boundary(double last, const std::string& solver) {
  constexpr std::int64_t rows = 50;
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) {
      a.indices.push_back(j);
      a.data.push_back(i != j ? -1 : i == 0 || i == rows - 1 ? 1 : 2);
    }
    a.indptr.push_back(std::ssize(a.indices));
  }
  SharedFile file("no-boundary.h5");
  file.write([&](hdf5::File& out) {
    a.write(out);
    std::vector<double> b(rows, 0.0);
    b.front() = 1e-3;
    b.back() = last;
    out.create_dataset<double>("b", {rows}).write(0, rows, b.data());
  });
  return solve("file: " + file.path().string() + ", rhs: /b",
               fmt::format("device: cpu\nsolver: {{max_iterations: 200, {}}}", solver))
      .runs[0];
}

TEST(RunCase, ARightHandSideOutsideOfTheRangeOfASingularMatrixIsNamed) {
  for (const char* solver : {"preconditioner: multigrid", "preconditioner: jacobi",
                             "engine: petsc, preconditioner: jacobi"}) {
    SCOPED_TRACE(solver);
    const RunOutcome outside = solved_without_boundary(1e-3, solver);
    EXPECT_FALSE(outside.converged);
    EXPECT_NE(outside.reason.find("no x has a residual below 0.2 of ||b||"), std::string::npos)
        << outside.reason;
    EXPECT_TRUE(outside.reason.ends_with(")")) << outside.reason;
    const RunOutcome inside = solved_without_boundary(-1e-3, solver);
    EXPECT_EQ(inside.reason.find("singular"), std::string::npos) << inside.reason;
  }
  const RunOutcome regular =
      solve("generate: poisson2d, n: 12", "device: cpu\nsolver: {max_iterations: 1}").runs[0];
  EXPECT_FALSE(regular.converged);
  EXPECT_EQ(regular.reason.find("singular"), std::string::npos) << regular.reason;
}

// Of two right-hand sides, one of which is solved by x = 0, and one whose solution overflows.
TEST(RunCase, NanIsTheWorstOfSeveralResidualsAndErrorsWhicheverComesFirst) {
  constexpr std::int64_t rows = 50;
  SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, rows - 1); ++j) {
      a.indices.push_back(j);
      a.data.push_back(i == j ? 4 : -1);
    }
    a.indptr.push_back(std::ssize(a.indices));
  }
  for (const bool first : {true, false}) {
    SharedFile file("nan.h5");
    file.write([&](hdf5::File& out) {
      a.write(out);
      std::vector<double> columns;
      for (std::int64_t i = 0; i < rows; ++i)
        columns.insert(columns.end(), {first ? 1.0 : 0.0, first ? 0.0 : 1.0});
      out.create_dataset<double>("b", {rows, 2}).write(0, rows, columns.data());
    });
    const PetscOption untested("-ksp_norm_type", "none");
    const RunOutcome run = solve("file: " + file.path().string() + ", rhs: /b",
                                 "device: cpu\nkernel: csr\nsolver: {method: richardson, "
                                 "preconditioner: none, max_iterations: 3000}")
                               .runs[0];
    EXPECT_TRUE(std::isnan(run.relative_residual)) << run.relative_residual;
  }
}

}  // namespace
}  // namespace trireme
