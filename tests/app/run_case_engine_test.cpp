// SPDX-License-Identifier: BSD-3-Clause
// Which engine solves a case, in which precision; run on 1 and 3 ranks.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "app/solved_cases.hpp"
#include "device/device.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/ksp_types.hpp"

namespace trireme {
namespace {

using namespace test;

TEST(RunCase, MixedPrecisionReachesTheToleranceAndIsComparedWithDouble) {
  const std::pair<const char*, const char*> systems[] = {
      {"generate: elasticity3d, n: 8", "method: cg"},
      {"generate: convection3d, n: 12", "method: bicgstab, preconditioner: trireme_block_jacobi"}};
  for (const auto& [problem, method] : systems) {
    const CaseOutcome outcome = run_case(
        MPI_COMM_WORLD,
        case_of(problem, fmt::format("kernel: csr\ndevice: cpu\nprecision: [double, mixed]\n"
                                     "solver: {{rtol: 1e-12, {}}}",
                                     method)),
        nullptr);
    ASSERT_EQ(outcome.runs.size(), 2u);
    const RunOutcome &full = outcome.runs[0], &mixed = outcome.runs[1];
    EXPECT_EQ(full.precision, Precision::full);
    EXPECT_FALSE(full.corrections);
    EXPECT_EQ(mixed.precision, Precision::mixed);
    EXPECT_EQ(label(mixed), "csr-mixed");
    EXPECT_TRUE(mixed.converged) << mixed.reason;
    EXPECT_LE(mixed.relative_residual, 1.01e-12);
    ASSERT_TRUE(mixed.corrections);
    EXPECT_GE(*mixed.corrections, 2);
    EXPECT_LT(mixed.bytes, 0.72 * full.bytes);  // 8 bytes per nonzero in place of 12
    EXPECT_NE(mixed.notes.back().find("times as fast as double"), std::string::npos)
        << mixed.notes.back();
  }
}

TEST(RunCase, IsDeterministicUnlessTimingsMayChooseTheVariant) {
  const bool alone = size_of(MPI_COMM_WORLD) == 1;
  const std::string rest = "kernel: csr\ndevice: cpu\nsolver: {method: cg}\n";
  const auto deterministic = [&](const std::string& more) {
    return solve("generate: poisson3d, n: 8", rest + more).runs.at(0).deterministic;
  };
  EXPECT_TRUE(deterministic(""));
  EXPECT_EQ(deterministic("reproducible: false"), alone);
  const PetscOption option("-ksp_trireme_variant", "classic");
  EXPECT_TRUE(deterministic("reproducible: false"));
}

TEST(RunCase, MixedPrecisionReachesTheToleranceOnAGpu) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU here";
  const CaseOutcome outcome =
      solve("generate: elasticity3d, n: 30",
            "kernel: [sell, dasp]\ndevice: cuda\nprecision: mixed\nsolver: {rtol: 1e-12}");
  for (const RunOutcome& run : outcome.runs) {
    EXPECT_TRUE(run.converged) << run.reason;
    EXPECT_LE(run.relative_residual, 1.01e-12);
    EXPECT_GE(run.corrections.value_or(0), 5);
  }
}

TEST(RunCase, MixedPrecisionCorrectsNothingWhereFloatIsExact) {
  const CaseOutcome outcome = run_case(
      MPI_COMM_WORLD,
      case_of("generate: poisson3d, n: 8", "device: cpu\nprecision: mixed\nsolver: {rtol: 1e-12}"),
      nullptr);
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_EQ(outcome.runs[0].kernel, "albus");  // auto
  EXPECT_LE(outcome.runs[0].relative_residual, 1.01e-12);
  EXPECT_EQ(outcome.runs[0].corrections, 0);
}

TEST(RunCase, AutomaticPrecisionIsDoubleOnACpu) {
  const CaseOutcome outcome = run_case(
      MPI_COMM_WORLD,
      case_of("generate: elasticity3d, n: 6", "device: cpu\nkernel: csr\nsolver: {method: cg}"),
      nullptr);
  EXPECT_EQ(outcome.runs.at(0).precision, Precision::full);
  EXPECT_EQ(label(outcome.runs[0]), "csr");
  EXPECT_FALSE(outcome.runs[0].corrections);
}

TEST(RunCase, AutomaticPrecisionIsMixedForLargeSystemsOnGpus) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU here";
  const int ranks = size_of(MPI_COMM_WORLD);
  const auto precision_of = [&](const std::string& problem, const std::string& solver) {
    const RunOutcome run =
        solve(problem, "kernel: sell\ndevice: cuda\nsolver: {" + solver + "}").runs.at(0);
    EXPECT_TRUE(run.converged) << run.reason;
    return run.precision;
  };
  // 4.4 million nonzeros per rank.
  const int points = 1 + static_cast<int>(86 * std::cbrt(ranks));
  const std::string large = fmt::format("generate: diffusion3d, n: {}", points);
  const std::string jacobi = "method: cg, preconditioner: jacobi";
  EXPECT_EQ(precision_of(large, jacobi), Precision::mixed);
  EXPECT_EQ(precision_of(large + ", rhs: random, rhs_count: 2", jacobi),
            ranks == 1 ? Precision::mixed : Precision::full);
  const std::string fewer =
      fmt::format("generate: diffusion3d, n: {}", static_cast<int>(80 * std::cbrt(ranks)));
  EXPECT_EQ(precision_of(fewer, jacobi), Precision::full);
  if (ranks > 1) return;  // what follows does not depend on them
  EXPECT_EQ(precision_of(large, jacobi + ", rtol: 5e-13"), Precision::full);
  EXPECT_EQ(precision_of(large, "method: cg, preconditioner: multigrid"), Precision::full);
  EXPECT_EQ(precision_of(large, "method: cg, preconditioner: auto"), Precision::full);
}

TEST(RunCase, MixedPrecisionIsForTheResidentEngine) {
  const std::string problem = "generate: elasticity3d, n: 4";
  for (const char* solver : {"engine: petsc", "method: fgmres", "preconditioner: gamg"}) {
    const std::string message =
        error_of(problem, fmt::format("precision: mixed\nsolver: {{{}}}", solver), ExitCode::usage);
    EXPECT_NE(message.find("mixed needs the resident engine"), std::string::npos) << message;
  }
  const std::string lacking =
      error_of(problem, "precision: mixed\ndevice: cpu\nkernel: teb", ExitCode::usage);
  EXPECT_NE(lacking.find("'teb' has no CPU executor for mixed"), std::string::npos) << lacking;
}

TEST(RunCase, KernelsWithoutMixedPrecisionRunInDoubleWhereBothAreAsked) {
  const CaseOutcome outcome =
      run_case(MPI_COMM_WORLD,
               case_of("generate: elasticity3d, n: 4",
                       "kernel: [teb, csr]\ndevice: cpu\nprecision: [double, mixed]"),
               nullptr);
  std::string labels;
  for (const RunOutcome& run : outcome.runs) labels += label(run) + " ";
  EXPECT_EQ(labels, "teb csr csr-mixed ");
}

TEST(RunCase, AutoTakesPetscsLoopForWhatTheResidentEngineLacks) {
  struct Asked {
    const char *method, *option, *value, *why;
  };
  for (const auto& [method, option, value, why] : {
           Asked{"cg", "-ksp_view_eigenvalues", "ascii:/dev/null", "no eigenvalues"},
           Asked{"cg", "-ksp_monitor_singular_value", "ascii:/dev/null", "no eigenvalues"},
           Asked{"cg", "-ksp_lag_norm", nullptr, "-ksp_lag_norm"},
           Asked{"cg", "-ksp_cg_single_reduction", nullptr, "-ksp_cg_single_reduction"},
           Asked{"cg", "-ksp_type", "cg", "-ksp_type cg"},
           Asked{"cg", "-pc_type", "gamg", "not gamg"},
           Asked{"bicgstab", "-ksp_constant_null_space", nullptr, "no null space"},
           Asked{"bicgstab", "-ksp_norm_type", "preconditioned", "-ksp_norm_type"},
           Asked{"bicgstab", "-ksp_pc_side", "left", "-ksp_pc_side"},
       }) {
    SCOPED_TRACE(fmt::format("{} {}", method, option));
    const PetscOption given(option, value);
    const std::string solver = fmt::format("kernel: [csr, albus]\nsolver: {{method: {}", method);
    const std::string problem = "generate: poisson2d, n: 12";
    for (const RunOutcome& run : solve(problem, solver + "}").runs) {
      EXPECT_TRUE(run.converged) << run.reason;
      EXPECT_EQ(run.engine, Engine::petsc);
      EXPECT_TRUE(std::ranges::any_of(run.notes, [&](const std::string& note) {
        return note.find(why) != std::string::npos;
      })) << testing::PrintToString(run.notes);
    }
    const std::string refusal = error_of(problem, solver + ", engine: resident}", ExitCode::usage);
    EXPECT_NE(refusal.find(why), std::string::npos) << refusal;
  }
}

TEST(RunCase, AutoStaysResidentWhereAnOptionIsNobodys) {
  for (const char* name : {"-ksp_montior", "-ksp_gmres_restart"}) {
    const PetscOption given(name, "20");
    const CaseOutcome outcome =
        solve("generate: poisson2d, n: 12", "kernel: [csr, albus]\ndevice: cpu");
    for (const RunOutcome& run : outcome.runs) EXPECT_EQ(run.engine, Engine::resident);
    EXPECT_EQ(std::ranges::count(outcome.runs[0].notes, "PETSc option " + std::string(name) +
                                                            " was not used; is it misspelt?"),
              1);
  }
}

TEST(RunCase, AutoStaysResidentForAPreconditionerThatItHas) {
  for (const char* type : {"none", "jacobi", "trireme_chebyshev"}) {
    const PetscOption given("-pc_type", type);
    const RunOutcome run = solve("generate: poisson2d, n: 12", "kernel: csr").runs[0];
    EXPECT_EQ(run.engine, Engine::resident);
    EXPECT_EQ(run.preconditioner, type);
  }
}

TEST(RunCase, BlocksOfMoreThan32RowsAreForPetscsLoop) {
  const PetscOption given("-mat_block_size", "48");
  const std::string problem = "generate: poisson2d, n: 48", pc = "preconditioner: pbjacobi";
  const CaseOutcome outcome = solve(problem, "kernel: csr\nsolver: {" + pc + "}");
  EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
  EXPECT_EQ(outcome.runs[0].engine, Engine::petsc);
  error_of(problem, "kernel: csr\nsolver: {engine: resident, " + pc + "}", ExitCode::usage);
}

TEST(RunCase, OwnPreconditionersAreRefusedOutsideTheResidentEngine) {
  for (const char* solver :
       {"method: bicgstab, preconditioner: trireme_chebyshev",
        "method: gmres, preconditioner: trireme_chebyshev",
        "engine: petsc, preconditioner: trireme_chebyshev",
        "engine: petsc, method: bicgstab, preconditioner: trireme_block_jacobi"}) {
    const std::string message = error_of("generate: poisson2d, n: 5",
                                         fmt::format("solver: {{{}}}", solver), ExitCode::usage);
    EXPECT_NE(message.find("in the resident engine only"), std::string::npos) << message;
  }
}

TEST(RunCase, AKspTypeByOptionThatCannotServeIsAUsageError) {
  const PetscOption type("-ksp_type", "trireme_cg"), pc("-pc_type", "gamg");
  error_of("generate: poisson2d, n: 5", "solver: {engine: auto}", ExitCode::usage);
}

// Where the loop stays on the GPU, x is not to be had in between.
TEST(RunCase, AMonitorOfTheSolutionTakesPetscsLoopOnAGpu) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU here";
  for (const char* name : {"-ksp_monitor_true_residual", "-ksp_monitor_solution"}) {
    const PetscOption given(name, "ascii:/dev/null");
    const CaseOutcome outcome = solve("generate: poisson2d, n: 12", "device: cuda");
    EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
    EXPECT_EQ(outcome.runs[0].engine, Engine::petsc);
    error_of("generate: poisson2d, n: 12", "device: cuda\nsolver: {engine: resident}",
             ExitCode::usage);
  }
}

TEST(RunCase, MixedPrecisionNamesWhatTakesPetscsLoop) {
  for (const char* method : {"fgmres", "direct"}) {
    const std::string error = error_of(
        "generate: poisson2d, n: 8",
        fmt::format("kernel: csr\ndevice: cpu\nprecision: mixed\nsolver: {{method: {}}}", method),
        ExitCode::usage);
    EXPECT_NE(error.find("needs the resident engine"), std::string::npos) << error;
    EXPECT_NE(error.find(method), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace trireme
