// SPDX-License-Identifier: BSD-3-Clause
// Ranks of CPUs take the variant of CG of the rule or, if asked to, the one that they have measured
// to be faster, and say so.
#include <array>
#include <string>

#include "petsc/ksp/ksp_rules.hpp"
#include "petsc/ksp_fixture.hpp"

namespace trireme {
namespace {

using solvers::VariantTimes;
using test::grid;

class VariantOfRanks : public test::ResidentKsp {
 protected:
  static int ranks() {
    int size = 0;
    MPI_Comm_size(PETSC_COMM_WORLD, &size);
    return size;
  }
};

TEST_F(VariantOfRanks, IsClassicWhereAllRanksShareMemory) {
  make(grid(12), "trireme_cg", PCJACOBI);
  EXPECT_GT(solve(), 0);
  EXPECT_EQ(ksp_facts(ksp)->variant, "classic");
  EXPECT_FALSE(ksp_facts(ksp)->variant_times) << "a timing would make bits differ between runs";
}

TEST_F(VariantOfRanks, IsTheFasterOneByTimesOnWhichAllRanksAgree) {
  option("-ksp_trireme_variant", "measured");
  for (const char* type : {"trireme_cg", "trireme_block_cg"})
    for (const char* pc : {PCNONE, PCJACOBI, "trireme_chebyshev"}) {
      SCOPED_TRACE(std::string(type) + " " + pc);
      make(grid(12), type, pc);
      EXPECT_GT(solve(), 0);
      EXPECT_LE(relative_residual(), 1.01e-9);
      const KspFacts facts = *ksp_facts(ksp);
      ASSERT_EQ(facts.variant_times.has_value(), ranks() > 1);
      if (ranks() == 1) {
        EXPECT_EQ(facts.variant, "classic");
        EXPECT_EQ(why_variant(facts), "");
        continue;
      }
      const VariantTimes& times = *facts.variant_times;
      EXPECT_GT(times.sum, 0);
      EXPECT_EQ(facts.variant, kVariantNames[static_cast<int>(solvers::faster_variant(times))]);
      EXPECT_NE(why_variant(facts).find("CG runs as " + facts.variant), std::string::npos);
      const std::array<double, 3> mine = {times.sum, times.classic, times.single_reduction};
      std::array<double, 3> largest = mine;
      MPI_Allreduce(MPI_IN_PLACE, largest.data(), 3, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
      EXPECT_EQ(mine, largest);
    }
}

TEST_F(VariantOfRanks, IsMeasuredOnceForAMatrix) {
  option("-ksp_trireme_variant", "measured");
  make(grid(12), "trireme_cg", PCJACOBI);
  EXPECT_GT(solve(), 0);
  const auto first = ksp_facts(ksp)->variant_times;
  petsc_check(MatShift(a, 1));
  EXPECT_GT(solve(), 0);
  petsc_check(KSPReset(ksp));
  petsc_check(KSPSetOperators(ksp, a, a));
  EXPECT_GT(solve(), 0);
  const auto last = ksp_facts(ksp)->variant_times;
  ASSERT_EQ(first.has_value(), last.has_value());
  if (first) {
    EXPECT_EQ(first->sum, last->sum);
  }
}

TEST_F(VariantOfRanks, IsNotMeasuredWhereItIsGiven) {
  for (const std::string variant : {"classic", "single_reduction"}) {
    option("-ksp_trireme_variant", variant.c_str());
    make(grid(12), "trireme_cg", PCJACOBI);
    EXPECT_GT(solve(), 0);
    EXPECT_EQ(ksp_facts(ksp)->variant, variant);
    EXPECT_FALSE(ksp_facts(ksp)->variant_times);
  }
}

TEST_F(VariantOfRanks, IsNotMeasuredForMethodsWithOne) {
  for (const char* type : {"trireme_bicgstab", "trireme_minres"}) {
    make(grid(12), type, PCJACOBI);
    EXPECT_GT(solve(), 0);
    EXPECT_FALSE(ksp_facts(ksp)->variant_times);
  }
}

}  // namespace
}  // namespace trireme
