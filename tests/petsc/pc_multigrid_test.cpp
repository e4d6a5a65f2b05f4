// SPDX-License-Identifier: BSD-3-Clause
// The PC type trireme_mg under the KSP types of PETSc and of Trireme, on 1 and several ranks.
#include <gtest/gtest.h>
#include <petscksp.h>
#include <trireme/petsc.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "distributed/host_operator.hpp"
#include "petsc/coo.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp_fixture.hpp"
#include "petsc/mat/aij_blocks.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/mat/mat_trireme.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

using namespace test;

class Multigrid : public ResidentKsp {
 protected:
  void SetUp() override {
    ResidentKsp::SetUp();
    petsc_check(TriremeInitializePackage());
  }
  PC pc() {
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp, &pc));
    return pc;
  }
  const MultigridPc& multigrid() { return *multigrid_of(pc()); }
  void expect_solved(const char* what) {
    EXPECT_EQ(solve(), KSP_CONVERGED_RTOL) << what;
    EXPECT_LE(relative_residual(), 1.001e-9) << what;
  }
  // The text that PCView prints; empty on all ranks but the first.
  std::string view() {
    char* text = nullptr;
    std::size_t size = 0;
    FILE* const file = open_memstream(&text, &size);
    PetscViewer viewer = nullptr;
    petsc_check(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
    petsc_check(PCView(pc(), viewer));
    petsc_check(PetscViewerDestroy(&viewer));
    std::fclose(file);
    const std::string all(text, size);
    std::free(text);
    return all;
  }
  // Couples the first row with the last one.
  void change_pattern() {
    PetscMPIInt rank = 0;
    PetscInt rows = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    petsc_check(MatGetSize(a, &rows, nullptr));
    petsc_check(MatSetOption(a, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
    petsc_check(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    if (rank == 0) {
      petsc_check(MatSetValue(a, 0, rows - 1, -1, INSERT_VALUES));
      petsc_check(MatSetValue(a, rows - 1, 0, -1, INSERT_VALUES));
    }
    petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    petsc_check(KSPSetOperators(ksp, a, a));
  }
};

// The 5-point Laplacian, which is harder than the grid of the fixture.
MatHandle laplacian(PetscInt n) {
  MatHandle a = grid(n);
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(a, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(MatSetValue(a, row, row, 4, INSERT_VALUES));
  petsc_check(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  return a;
}

MatHandle as_trireme(MatHandle aij) {
  Mat mat = aij.release();
  petsc_check(MatConvert(mat, MATTRIREME, MAT_INPLACE_MATRIX, &mat));
  return MatHandle(mat);
}

void scale_and_tell(KSP ksp, Mat a, double factor) {
  petsc_check(MatScale(a, factor));
  petsc_check(KSPSetOperators(ksp, a, a));
}

TEST_F(Multigrid, WorksUnderEveryKspType) {
  for (const char* type : {"trireme_cg", "trireme_minres", "trireme_bicgstab", "trireme_gmres",
                           "trireme_block_cg", KSPCG, KSPMINRES, KSPGMRES, KSPBCGS, KSPFCG}) {
    make(laplacian(40), type, kTriremeMultigrid);
    petsc_check(KSPSetNormType(ksp, std::string(type) == KSPMINRES || std::string(type) == KSPGMRES
                                        ? KSP_NORM_PRECONDITIONED
                                        : KSP_NORM_UNPRECONDITIONED));
    petsc_check(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
    expect_solved(type);
    EXPECT_LE(iterations(), 20) << type;
    EXPECT_EQ(multigrid().builds(), 1) << type;
  }
}

// Richardson relies on M being an approximation of A itself, and MINRES on a positive definite M.
TEST_F(Multigrid, ServesAMatrixWhoseDiagonalIsNegativeThroughout) {
  for (const bool ours : {false, true})
    for (const char* type : {"trireme_cg", "trireme_minres", "trireme_bicgstab", "trireme_block_cg",
                             KSPCG, KSPGMRES, KSPBCGS, KSPRICHARDSON}) {
      SCOPED_TRACE(type);
      make(ours ? as_trireme(laplacian(40)) : laplacian(40), type, kTriremeMultigrid);
      petsc_check(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
      expect_solved("the Laplacian");
      EXPECT_FALSE(multigrid().negated());
      const PetscInt of_positive = iterations();
      scale_and_tell(ksp, a, -1);
      expect_solved("its negative");
      EXPECT_TRUE(multigrid().negated());
      EXPECT_EQ(iterations(), of_positive);
      EXPECT_EQ(multigrid().builds(), 2) << "another sign is another matrix";
      scale_and_tell(ksp, a, 3);
      expect_solved("new values");
      EXPECT_EQ(iterations(), of_positive);
      EXPECT_EQ(multigrid().renewals(), 1);
      scale_and_tell(ksp, a, -1);
      expect_solved("the positive one again");
      EXPECT_FALSE(multigrid().negated());
    }
}

TEST_F(Multigrid, RefusesADiagonalOfBothSigns) {
  MatHandle both = laplacian(40);
  PetscInt first = 0, last = 0;
  petsc_check(MatGetOwnershipRange(both, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    petsc_check(MatSetValue(both, row, row, row == 100 ? 4 : -4, INSERT_VALUES));
  petsc_check(MatAssemblyBegin(both, MAT_FINAL_ASSEMBLY));
  petsc_check(MatAssemblyEnd(both, MAT_FINAL_ASSEMBLY));
  make(std::move(both), "trireme_cg", kTriremeMultigrid);
  petsc_check(KSPSetFromOptions(ksp));
  EXPECT_NE(KSPSolve(ksp, b, x), kPetscSuccess);
}

// Neither the KSP nor an option says that the matrix is not symmetric.
TEST_F(Multigrid, FindsASmootherForANonsymmetricMatrix) {
  for (const char* type : {KSPBCGS, KSPGMRES, "trireme_bicgstab", "trireme_gmres"}) {
    make(grid(50, 20), type, kTriremeMultigrid);
    petsc_check(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
    expect_solved(type);
    EXPECT_LE(iterations(), 30) << type;
    EXPECT_EQ(multigrid().hierarchy()->smoother(), Smoother::jacobi);
    const std::string text = view();
    PetscMPIInt rank = 0;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    for (const char* words : {"smoother jacobi of degree 2", "smoother chebyshev does not suit"})
      EXPECT_EQ(text.find(words) == std::string::npos, rank > 0) << text;
  }
}

// (M^-T x, y) = (x, M^-1 y).
TEST_F(Multigrid, HasATransposeForBicg) {
  for (const PetscInt n : {9, 50}) {  // one level, and several
    make(grid(n, 3), KSPBICG, kTriremeMultigrid);
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    expect_solved("bicg");
    EXPECT_LE(iterations(), 25) << n;
    VecHandle y, forward, back;
    for (VecHandle* v : {&y, &forward, &back}) petsc_check(VecDuplicate(b, v->put()));
    petsc_check(VecPointwiseMult(y, b, x));
    petsc_check(PCApply(pc(), y, forward));
    petsc_check(PCApplyTranspose(pc(), b, back));
    PetscScalar expected = 0, got = 0, symmetric = 0;
    petsc_check(VecDot(forward, b, &expected));
    petsc_check(VecDot(y, back, &got));
    EXPECT_NEAR(got, expected, 1e-12 * std::abs(expected));
    petsc_check(PCApply(pc(), b, back));
    petsc_check(VecDot(y, back, &symmetric));
    EXPECT_GT(std::abs(symmetric - expected), 1e-6 * std::abs(expected)) << "too easy a matrix";
  }
  make(laplacian(50), KSPBICG, kTriremeMultigrid);
  petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  expect_solved("bicg for a symmetric matrix");
  EXPECT_LE(iterations(), 20);
}

TEST_F(Multigrid, TakesAsManyIterationsInOurLoopAsInPetscs) {
  for (const auto& [ours, petsc] : {std::pair{"trireme_cg", KSPCG}}) {
    make(laplacian(50), petsc, kTriremeMultigrid);
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    expect_solved(petsc);
    const PetscInt expected = iterations();
    make(laplacian(50), ours, kTriremeMultigrid);
    expect_solved(ours);
    EXPECT_NEAR(iterations(), expected, 1);
  }
}

TEST_F(Multigrid, SharesTheMatrixOfAMatOfTypeTrireme) {
  make(as_trireme(laplacian(30)), "trireme_cg", kTriremeMultigrid);
  expect_solved("trireme");
  MatEntries entries;
  EXPECT_EQ(entries.take(a), MatEntries::Change::everything);
  EXPECT_EQ(entries.matrix(), trireme_matrix(a));
}

TEST_F(Multigrid, SharesTheMatrixOfAShell) {
  make(laplacian(30), KSPCG, kTriremeMultigrid);
  petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  expect_solved("aij");
  const PetscInt expected = iterations();
  const auto matrix = distributed_matrix_of(a);
  make(make_shell(std::make_shared<HostOperator>(matrix, "csr")), "trireme_cg", kTriremeMultigrid);
  expect_solved("shell");
  EXPECT_NEAR(iterations(), expected, 1);
  MatEntries entries;
  EXPECT_EQ(entries.take(a), MatEntries::Change::everything);
  EXPECT_EQ(entries.matrix(), matrix);
  EXPECT_EQ(entries.take(a), MatEntries::Change::none);
  ++matrix->values_version;
  EXPECT_EQ(entries.take(a), MatEntries::Change::values);
}

TEST_F(Multigrid, IsRenewedForNewValuesAndBuiltAnewForANewPattern) {
  for (const bool trireme : {false, true})
    for (const char* type : {"trireme_cg", KSPCG}) {
      SCOPED_TRACE(std::string(type) + (trireme ? " trireme" : " aij"));
      MatHandle matrix = laplacian(30);
      make(trireme ? as_trireme(std::move(matrix)) : std::move(matrix), type, kTriremeMultigrid);
      petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
      expect_solved("first");
      const PetscInt first = iterations();
      expect_solved("again");
      EXPECT_EQ(multigrid().builds(), 1);
      EXPECT_EQ(multigrid().renewals(), 0) << "nothing has changed";

      scale_and_tell(ksp, a, 1000);
      expect_solved("scaled");
      EXPECT_EQ(multigrid().builds(), 1);
      EXPECT_EQ(multigrid().renewals(), 1);
      EXPECT_NEAR(iterations(), first, 1);

      petsc_check(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
      scale_and_tell(ksp, a, 0.5);
      expect_solved("reused");
      EXPECT_EQ(multigrid().renewals(), 1);
      petsc_check(KSPSetReusePreconditioner(ksp, PETSC_FALSE));

      change_pattern();
      expect_solved("another pattern");
      EXPECT_EQ(multigrid().builds(), 2);
    }
}

// As in NoticesAnotherPatternByCoordinates of mat_trireme_test.cpp.
TEST_F(Multigrid, TakesAnotherPatternByCoordinates) {
  make(laplacian(30), KSPBCGS, kTriremeMultigrid);
  MatEntries entries;
  for (const PetscInt distance : {1, 899, 1, 50}) {
    SCOPED_TRACE(distance);
    set_by_coordinates(a, distance);
    EXPECT_EQ(entries.take(a), MatEntries::Change::everything);
    const auto expected = distributed_matrix_of(a);
    EXPECT_EQ(entries.matrix()->blocks.local.col_idx, expected->blocks.local.col_idx);
    EXPECT_EQ(entries.matrix()->blocks.ghost_columns, expected->blocks.ghost_columns);
    EXPECT_EQ(entries.take(a), MatEntries::Change::none);
    const std::uint64_t version = entries.matrix()->values_version;
    petsc_check(MatScale(a, 2));
    EXPECT_EQ(entries.take(a), MatEntries::Change::values);
    EXPECT_GT(entries.matrix()->values_version, version);
  }
}

// z = M^-1 r is 16 times smaller for a matrix that is 16 times larger.
TEST_F(Multigrid, RenewedLevelsHaveTheNewNumbers) {
  for (const bool trireme : {false, true}) {
    MatHandle matrix = laplacian(40);
    make(trireme ? as_trireme(std::move(matrix)) : std::move(matrix), KSPCG, kTriremeMultigrid);
    petsc_check(KSPSetUp(ksp));
    VecHandle before, after;
    petsc_check(VecDuplicate(b, before.put()));
    petsc_check(VecDuplicate(b, after.put()));
    petsc_check(PCApply(pc(), b, before));
    scale_and_tell(ksp, a, 16);
    petsc_check(KSPSetUp(ksp));
    petsc_check(PCApply(pc(), b, after));
    EXPECT_EQ(multigrid().renewals(), 1);
    PetscReal norm = 0, difference = 0;
    petsc_check(VecNorm(before, NORM_2, &norm));
    petsc_check(VecAXPBY(after, -1, 16, before));
    petsc_check(VecNorm(after, NORM_2, &difference));
    EXPECT_LE(difference, 1e-10 * norm);
  }
}

// The near-null space is one vector: the constant plus waves of this height.
class ModesOfMatrix {
 public:
  ModesOfMatrix(Mat a, double height) : a_(a) {
    petsc_check(MatCreateVecs(a, mode_.put(), nullptr));
    set(height);
    Vec modes[] = {mode_};
    petsc_check(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, modes, space_.put()));
    petsc_check(MatSetNearNullSpace(a, space_));
  }
  // Writes other values into the vector that the near-null space has.
  void set(double height) {
    PetscInt first = 0, last = 0;
    petsc_check(MatGetOwnershipRange(a_, &first, &last));
    for (PetscInt row = first; row < last; ++row)
      petsc_check(
          VecSetValue(mode_, row, 1 + height * static_cast<double>(row % 3), INSERT_VALUES));
    petsc_check(VecAssemblyBegin(mode_));
    petsc_check(VecAssemblyEnd(mode_));
    petsc_check(VecNormalize(mode_, nullptr));
  }

 private:
  Mat a_;
  VecHandle mode_;
  PetscHandle<MatNullSpace, MatNullSpaceDestroy> space_;
};

TEST_F(Multigrid, AnotherNearNullSpaceBuildsItAnew) {
  for (const char* type : {"trireme_cg", KSPCG}) {
    SCOPED_TRACE(type);
    make(laplacian(30), type, kTriremeMultigrid);
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    const auto solve_again = [&](const char* what) {
      note_change(static_cast<Mat>(a));  // whose values are as before
      petsc_check(KSPSetOperators(ksp, a, a));
      expect_solved(what);
      return iterations();
    };
    expect_solved("constants");
    const PetscInt by_constants = iterations();
    {
      ModesOfMatrix modes(a, 2);
      const PetscInt by_waves = solve_again("a near-null space");
      EXPECT_EQ(multigrid().builds(), 2);
      EXPECT_NE(by_waves, by_constants);
      EXPECT_EQ(solve_again("the same"), by_waves);
      EXPECT_EQ(multigrid().builds(), 2);
      EXPECT_EQ(multigrid().renewals(), 1);
      modes.set(0);
      EXPECT_NEAR(solve_again("the same vector, other values"), by_constants, 1);
      EXPECT_EQ(multigrid().builds(), 3);
    }
    const ModesOfMatrix other(a, 2);
    EXPECT_NE(solve_again("another near-null space"), by_constants);
    EXPECT_EQ(multigrid().builds(), 4);
    petsc_check(MatSetNearNullSpace(a, nullptr));
    EXPECT_EQ(solve_again("none"), by_constants);
    EXPECT_EQ(multigrid().builds(), 5);
  }
}

// A store that has nothing, and counts.
struct EmptyStore {
  int asked = 0, found = 0;

  multigrid::HierarchyStore store() {
    class Entry final : public multigrid::HierarchyEntry {
     public:
      explicit Entry(EmptyStore& of) : of_(of) {}
      std::int64_t size() override { return 0; }
      std::optional<Array<std::byte>> find() override {
        ++of_.found;
        return std::nullopt;
      }
      bool keep(std::span<const std::byte>, double) override { return false; }
      void reject(std::string_view) override {}

     private:
      EmptyStore& of_;
    };
    return [this](const DistributedMatrix&, const multigrid::NearNullspace&,
                  const multigrid::Options&) {
      ++asked;
      return std::make_unique<Entry>(*this);
    };
  }
};

TEST_F(Multigrid, AsksTheStoreForTheFirstHierarchyAlone) {
  EmptyStore counted;
  make(laplacian(30), "trireme_cg", kTriremeMultigrid);
  multigrid_of(pc())->use_store(counted.store());
  expect_solved("first");
  EXPECT_EQ(counted.asked, 1);
  EXPECT_EQ(counted.found, 1);
  scale_and_tell(ksp, a, 3);
  expect_solved("renewed");
  change_pattern();
  expect_solved("another pattern");
  option("-pc_trireme_mg_degree", "3");
  expect_solved("other options");
  EXPECT_EQ(multigrid().builds(), 3);
  EXPECT_EQ(counted.asked, 1);
}

TEST_F(Multigrid, OtherOptionsBuildItAnew) {
  make(laplacian(30), "trireme_cg", kTriremeMultigrid);
  expect_solved("default");
  option("-pc_trireme_mg_smoother", "jacobi");
  option("-pc_trireme_mg_degree", "1");
  option("-pc_trireme_mg_cycle", "w");
  option("-pc_trireme_mg_precision", "double");
  option("-pc_trireme_mg_threshold", "0.02");
  option("-pc_trireme_mg_fill", "0.5");
  expect_solved("others");
  EXPECT_EQ(multigrid().builds(), 2);
  const multigrid::Options& used = multigrid().hierarchy()->options();
  EXPECT_EQ(used.smoother, multigrid::Smoother::jacobi);
  EXPECT_EQ(used.degree, 1);
  EXPECT_EQ(used.cycle, multigrid::CycleKind::w);
  EXPECT_EQ(used.precision, Precision::full);
  EXPECT_EQ(used.threshold, 0.02);
  EXPECT_EQ(used.fill, 0.5);
}

TEST_F(Multigrid, TheDefaultsOfACaseAreThoseOfTheOptions) {
  SolverSpec spec;
  for (const char* method : {"cg", "block_cg", "minres", "trireme_cg"}) {
    spec.method = method;
    EXPECT_EQ(multigrid_options(spec), multigrid::Options{}) << method;
  }
  for (const char* method : {"bicgstab", "bcgs", "gmres", "trireme_bicgstab"}) {
    spec.method = method;
    EXPECT_EQ(multigrid_options(spec).smoother, Smoother::jacobi) << method;
  }
}

TEST_F(Multigrid, ACaseSetsTheOptions) {
  SolverSpec spec;
  spec.multigrid = {.smoother = Smoother::l1_jacobi,
                    .degree = 3,
                    .cycle = CycleKind::w,
                    .threshold = 0.1,
                    .smoothed_prolongator = false,
                    .fill = 0.4,
                    .aggressive_levels = 1,
                    .precision = Precision::full};
  EXPECT_EQ(multigrid_options(spec), (multigrid::Options{.smoother = Smoother::l1_jacobi,
                                                         .degree = 3,
                                                         .cycle = CycleKind::w,
                                                         .threshold = 0.1,
                                                         .smoothed_prolongator = false,
                                                         .fill = 0.4,
                                                         .aggressive_levels = 1,
                                                         .precision = Precision::full}));
}

TEST_F(Multigrid, WrongOptionsAreRefused) {
  for (const auto& [name, value] : {std::pair{"-pc_trireme_mg_smoother", "chebychev"},
                                    {"-pc_trireme_mg_degree", "0"},
                                    {"-pc_trireme_mg_cycle", "x"},
                                    {"-pc_trireme_mg_threshold", "1"},
                                    {"-pc_trireme_mg_fill", "-1"},
                                    {"-pc_trireme_mg_precision", "half"},
                                    {"-pc_trireme_mg_aggressive_levels", "-1"}}) {
    petsc_check(PetscOptionsClear(nullptr));
    make(laplacian(10), "trireme_cg", kTriremeMultigrid);
    option(name, value);
    EXPECT_NE(KSPSetFromOptions(ksp), kPetscSuccess) << name;
  }
}

TEST_F(Multigrid, PcViewListsTheLevels) {
  make(laplacian(60), "trireme_cg", kTriremeMultigrid);
  expect_solved("for the view");
  const std::string text = view();
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank > 0) return;
  for (const multigrid::LevelFacts& level : multigrid().hierarchy()->levels()) {
    EXPECT_NE(text.find(fmt::format("{:>12} {:>13}  {:<24} {}", level.rows, level.nnz,
                                    level.prolongator.empty() ? "-" : "smoothed", level.kernel)),
              std::string::npos)
        << text;
  }
  for (const char* words : {"smoother chebyshev of degree 2", "V-cycle", "operator complexity"})
    EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST_F(Multigrid, TheBlockSizeOfTheMatrixReachesTheLevels) {
  make(laplacian(36), "trireme_cg", kTriremeMultigrid);
  petsc_check(MatSetBlockSize(a, 4));
  expect_solved("blocks");
  EXPECT_EQ(multigrid().hierarchy()->options().block_size, 4);
}

TEST_F(Multigrid, TakesTypesThatConvertToAij) {
  make(laplacian(30), KSPCG, kTriremeMultigrid);
  Mat baij = nullptr;
  petsc_check(MatConvert(a, MATBAIJ, MAT_INITIAL_MATRIX, &baij));
  make(MatHandle(baij), "trireme_cg", kTriremeMultigrid);
  expect_solved("baij");
  scale_and_tell(ksp, a, 3);
  expect_solved("scaled");
  EXPECT_EQ(multigrid().builds(), 1);
  EXPECT_EQ(multigrid().renewals(), 1);
}

TEST_F(Multigrid, TakesWhatIsNewInATypeThatConvertsToAij) {
  const MatHandle aij = laplacian(12);
  MatHandle baij;
  petsc_check(MatConvert(aij, MATBAIJ, MAT_INITIAL_MATRIX, baij.put()));
  MatEntries entries;
  EXPECT_EQ(entries.take(baij), MatEntries::Change::everything);
  EXPECT_EQ(entries.take(baij), MatEntries::Change::none);
  petsc_check(MatScale(baij, 3));
  EXPECT_EQ(entries.take(baij), MatEntries::Change::values);
  petsc_check(MatScale(aij, 3));
  EXPECT_EQ(entries.matrix()->blocks.local.values, distributed_matrix_of(aij)->blocks.local.values);
  MatHandle other;
  set_by_coordinates(aij, 50);
  petsc_check(MatConvert(aij, MATBAIJ, MAT_INITIAL_MATRIX, other.put()));
  EXPECT_EQ(entries.take(other), MatEntries::Change::everything);
}

// The first row of each rank reads one row of the next rank, the first or the second one.
TEST_F(Multigrid, OtherColumnsOfOtherRanksAreAnotherPattern) {
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  if (ranks == 1) GTEST_SKIP() << "one rank has no ghosts";
  const auto reading = [&](PetscInt row_of_next) {
    MatHandle aij, baij;
    petsc_check(MatCreateAIJ(PETSC_COMM_WORLD, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr,
                             1, nullptr, aij.put()));
    PetscInt first = 0, last = 0;
    petsc_check(MatGetOwnershipRange(aij, &first, &last));
    for (PetscInt row = first; row < last; ++row)
      petsc_check(MatSetValue(aij, row, row, 4, INSERT_VALUES));
    petsc_check(MatSetValue(aij, first, (last + row_of_next) % (4 * ranks), -1, INSERT_VALUES));
    petsc_check(MatAssemblyBegin(aij, MAT_FINAL_ASSEMBLY));
    petsc_check(MatAssemblyEnd(aij, MAT_FINAL_ASSEMBLY));
    petsc_check(MatConvert(aij, MATBAIJ, MAT_INITIAL_MATRIX, baij.put()));
    return baij;
  };
  const MatHandle one = reading(0), other = reading(1);
  MatEntries entries;
  EXPECT_EQ(entries.take(one), MatEntries::Change::everything);
  EXPECT_EQ(entries.take(one), MatEntries::Change::none);
  EXPECT_EQ(entries.take(other), MatEntries::Change::everything);
}

// The entries of a Mat of type trireme are shared, and stay as they are when those of another Mat
// with the same pattern are taken.
TEST_F(Multigrid, AnotherMatLeavesSharedEntriesAlone) {
  const MatHandle scaled = laplacian(12), mat = as_trireme(laplacian(12));
  const Array<double> values = trireme_matrix(mat)->blocks.local.values;
  petsc_check(MatScale(scaled, 3));
  MatEntries entries;
  for (const char* type : {MATBAIJ, MATAIJ}) {
    SCOPED_TRACE(type);
    MatHandle other;
    petsc_check(MatConvert(scaled, type, MAT_INITIAL_MATRIX, other.put()));
    entries.take(mat);
    EXPECT_EQ(entries.take(other), MatEntries::Change::everything);
    EXPECT_EQ(trireme_matrix(mat)->blocks.local.values, values);
    petsc_check(MatScale(other, 2));
    EXPECT_EQ(entries.take(other), MatEntries::Change::values);
    EXPECT_EQ(trireme_matrix(mat)->blocks.local.values, values);
  }
}

TEST_F(Multigrid, AMatWithoutEntriesIsRefused) {
  Mat shell = nullptr;
  petsc_check(
      MatCreateShell(PETSC_COMM_WORLD, 10, 10, PETSC_DETERMINE, PETSC_DETERMINE, nullptr, &shell));
  petsc_check(MatSetUp(shell));
  make(MatHandle(shell), KSPCG, kTriremeMultigrid);
  EXPECT_NE(KSPSetUp(ksp), kPetscSuccess);
  MatEntries entries;
  try {
    entries.take(a);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("shell"), std::string::npos) << error.what();
  }
}

TEST_F(Multigrid, ReadsAVectorThatIsLocked) {
  make(laplacian(20), KSPCG, kTriremeMultigrid);
  petsc_check(KSPSetUp(ksp));
  VecHandle z;
  petsc_check(VecDuplicate(b, z.put()));
  petsc_check(VecLockReadPush(b));
  EXPECT_EQ(PCApply(pc(), b, z), kPetscSuccess);
  petsc_check(VecLockReadPop(b));
  PetscScalar energy = 0;
  petsc_check(VecDot(b, z, &energy));
  EXPECT_GT(energy, 0) << "the cycle is positive definite";
}

TEST_F(Multigrid, AResetAndAnotherTypeInBetweenAreNoticed) {
  for (const char* type : {"trireme_cg", KSPCG}) {
    make(laplacian(20), type, kTriremeMultigrid);
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    expect_solved("first");
    petsc_check(PCReset(pc()));
    petsc_check(KSPSetOperators(ksp, a, a));
    expect_solved("after a reset");
    petsc_check(PCSetType(pc(), PCJACOBI));
    expect_solved("jacobi");
    petsc_check(PCSetType(pc(), kTriremeMultigrid));
    expect_solved("multigrid again");
    EXPECT_EQ(multigrid().builds(), 1) << "of the new PC";
  }
}

TEST_F(Multigrid, SolvesForManyRightHandSides) {
  constexpr PetscInt kColumns = 5;
  for (const char* type : {"trireme_cg", "trireme_block_cg", KSPCG}) {
    make(laplacian(30), type, kTriremeMultigrid);
    petsc_check(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscInt rows = 0;
    petsc_check(MatGetLocalSize(a, &rows, nullptr));
    MatHandle many_b, many_x, product;
    petsc_check(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, kColumns,
                               nullptr, many_b.put()));
    petsc_check(MatSetRandom(many_b, nullptr));
    petsc_check(MatDuplicate(many_b, MAT_DO_NOT_COPY_VALUES, many_x.put()));
    petsc_check(KSPMatSolve(ksp, many_b, many_x));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    petsc_check(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason, KSP_CONVERGED_RTOL) << type;
    petsc_check(MatMatMult(a, many_x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.put()));
    petsc_check(MatAXPY(product, -1, many_b, SAME_NONZERO_PATTERN));
    PetscReal residual = 0, norm = 0;
    petsc_check(MatNorm(product, NORM_FROBENIUS, &residual));
    petsc_check(MatNorm(many_b, NORM_FROBENIUS, &norm));
    EXPECT_LE(residual, 1.001e-9 * norm) << type;
  }
}

}  // namespace
}  // namespace trireme
