// SPDX-License-Identifier: BSD-3-Clause
// A later run takes something over from an earlier one where the keys that it is part of are equal.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "app/kept/case_cache.hpp"
#include "app/kept/run_identity.hpp"
#include "io/problem.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "solved_cases.hpp"
#include "support/other_value.hpp"

namespace trireme {
namespace {

// What identifies the things of PartOf, for a case with one and the same system.
struct Identities {
  std::string resumed_run, kernel_choice, iterations;
};

class KeyParts : public testing::Test {
 protected:
  Identities of(const Case& c) const {
    const std::int64_t starts[] = {0, 64};
    Identities all;
    for (const RunPart& part : identity_of(MPI_COMM_WORLD, c, problem_, matrix_))
      all.resumed_run += part.name + "=" + part.value + "\n";
    all.kernel_choice = decision_key(c, {.name = "auto"}, outcome_, starts).text();
    all.iterations = iterations_key(c, outcome_).text();
    return all;
  }

  const Case case_ =
      test::case_of("generate: poisson2d, n: 8", "solver: {preconditioner: multigrid}");
  const Problem problem_ = load_problem(MPI_COMM_WORLD, case_.problem);
  const MatrixIdentity matrix_ = identity_of(MPI_COMM_WORLD, problem_);
  const CaseOutcome outcome_;
};

// PETSc's options come from several places, so that what counts is what PETSc has.
TEST_F(KeyParts, ChangeExactlyWhatTheKeyTableSays) {
  const Identities before = of(case_);
  for (const Key& key : case_keys()) {
    if (!test::has_value(key)) continue;
    std::unique_ptr<test::PetscOption> option;
    if (std::holds_alternative<field::PetscOptions>(key.field))
      option = std::make_unique<test::PetscOption>("-nobody_reads_this", "1");
    const Identities after = of(test::with_other_value(key, case_));
    EXPECT_EQ(after.resumed_run != before.resumed_run, key.part_of.has(PartOf::resumed_run))
        << key.path;
    EXPECT_EQ(after.kernel_choice != before.kernel_choice, key.part_of.has(PartOf::kernel_choice))
        << key.path;
    EXPECT_EQ(after.iterations != before.iterations, key.part_of.has(PartOf::iterations))
        << key.path;
  }
}

TEST_F(KeyParts, DoNotChangeWithOptionsThatOnlyPrint) {
  const Identities before = of(case_);
  const test::PetscOption option("-ksp_monitor_true_residual", nullptr);
  const Identities after = of(case_);
  EXPECT_EQ(after.resumed_run, before.resumed_run);
  EXPECT_EQ(after.kernel_choice, before.kernel_choice);
  EXPECT_EQ(after.iterations, before.iterations);
}

// Whatever changes the hierarchy changes how many iterations a solve takes. That the hierarchy in
// the cache depends on it is sure, because its key has all members of multigrid::Options.
TEST_F(KeyParts, OfTheHierarchyArePartOfIterationsAndOfAResumedRun) {
  for (const Key& key : case_keys()) {
    const Case other = test::with_other_value(key, case_);
    const bool changes = multigrid_options(other.solver) != multigrid_options(case_.solver);
    EXPECT_EQ(changes, key.path.starts_with("solver.multigrid.") || key.path == "solver.method")
        << key.path;
    if (!changes) continue;
    EXPECT_TRUE(key.part_of.has(PartOf::iterations)) << key.path;
    EXPECT_TRUE(key.part_of.has(PartOf::resumed_run)) << key.path;
  }
}

}  // namespace
}  // namespace trireme
