// SPDX-License-Identifier: BSD-3-Clause
// The passes and steps that replace the recurrence's residual by b - A x. Each test checks the
// numbers that they compute, because a solve also converges with wrong ones, only later.
#include "solvers/methods/correction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "solvers/methods/list.hpp"

namespace trireme::solvers {
namespace {

using Three = std::array<double, 3>;

// Three rows, for which r = b - q is {4, -2, 6} and the change of r is {1, -3, 2}.
struct Rows {
  Three b{5, 1, 8}, q{1, 3, 2}, r{3, 1, 4}, z{10, 20, 30}, p{100, 200, 300}, r0{1, 2, -1};
  Three inverse{0.5, 0.25, 2}, change{1, -3, 2};
  Diagonal diagonal() const { return {inverse.data(), 0}; }
};

template <int count, class Pass>
std::array<double, count> run(const Pass& pass, const State& state = {}) {
  static_assert(Pass::sums == count);
  std::array<double, count> sums{};
  for (std::int64_t i = 0; i < 3; ++i) {
    typename Pass::Row row = pass.load(i);
    pass.update(row, state, sums.data());
    pass.store(i, row);
  }
  return sums;
}

// The expected values: z = D^-1 r = {2, -0.5, 12}, and p changes by D^-1 {1, -3, 2} =
// {0.5, -0.75, 4}.
TEST(CorrectionPasses, CgsResidualIsReplacedAndItsDirectionChangesByThePreconditionedDifference) {
  for (const bool preconditioned_norm : {false, true}) {
    Rows rows;
    State s;
    if (preconditioned_norm) s.rule.norm = NormKind::preconditioned;
    choose_norm_parts(s);
    const auto sums =
        run<3>(CorrectResidual{rows.b.data(), rows.q.data(), rows.r.data(), rows.z.data(),
                               rows.p.data(), rows.diagonal(), NormTerm{}},
               s);
    EXPECT_EQ(rows.r, (Three{4, -2, 6}));
    EXPECT_EQ(rows.z, (Three{2, -0.5, 12}));
    EXPECT_EQ(rows.p, (Three{100.5, 199.25, 304}));
    EXPECT_EQ(sums[0], preconditioned_norm ? 0.25 + 0.5625 + 16 : 1 + 9 + 4);
    EXPECT_EQ(sums[1], 8 + 1 + 72);
    EXPECT_EQ(sums[2], preconditioned_norm ? 4 + 0.25 + 144 : 16 + 4 + 36);
  }
}

// The vectors were in units of 4 and come into units of 2: the old r, z and p count twice.
TEST(CorrectionPasses, Fp32VectorsComeIntoTheNewUnit) {
  using ThreeFloats = std::array<float, 3>;
  const Rows rows;
  const ThreeFloats inverse{0.5f, 0.25f, 2};
  const DiagonalOf<float> diagonal{inverse.data(), 0};
  State s;
  s.unit = 4;
  set_unit(s, 2.0);
  ThreeFloats r{1, 2, 3}, z{}, p{10, 20, 30};
  const auto of_cg = run<3>(CorrectResidualOf<float>{rows.b.data(), rows.q.data(), r.data(),
                                                     z.data(), p.data(), diagonal, NormTerm{}},
                            s);
  EXPECT_EQ(r, (ThreeFloats{2, -1, 3}));  // (b - q) / 2, where b - q = {4, -2, 6}
  EXPECT_EQ(z, (ThreeFloats{1, -0.25f, 6}));
  EXPECT_EQ(p, (ThreeFloats{20, 38.75f, 54}));  // 2 p + D^-1 {0, -5, -3}
  EXPECT_EQ(of_cg, (std::array<double, 3>{25 + 9, 2 + 0.25 + 18, 4 + 1 + 9}));

  r = {1, 2, 3};
  ThreeFloats p_hat{10, 20, 30};
  const ThreeFloats r0{1, 2, -1};
  const auto of_bicgstab =
      run<3>(CorrectRightResidual<float>{rows.b.data(), rows.q.data(), r.data(), r0.data(), nullptr,
                                         p_hat.data(), diagonal, NormTerm{}},
             s);
  EXPECT_EQ(r, (ThreeFloats{2, -1, 3}));
  EXPECT_EQ(p_hat, (ThreeFloats{20, 38.75f, 54}));
  EXPECT_EQ(of_bicgstab, (std::array<double, 3>{25 + 9, 4 + 1 + 9, 2 - 2 - 3}));
}

TEST(CorrectionPasses, StepsInFp32GoToXOnceAndInTheirUnit) {
  std::array<float, 3> steps{1, -2, 3};
  Three x{100, 200, 300};
  State s;
  s.unit = 0.5;
  const AddSteps add{steps.data(), x.data()};
  run<0>(add, s);
  run<0>(add, s);
  EXPECT_EQ(x, (Three{100.5, 199, 301.5}));
  EXPECT_EQ(steps, (std::array<float, 3>{}));
  steps = {5, 5, std::nanf("")};
  run<0>(ForgetSteps{steps.data()}, s);
  EXPECT_EQ(steps, (std::array<float, 3>{}));
}

// p and s stay in the old unit until beta brings them into the new one.
TEST(CorrectionSteps, SingleReductionCgsBetaBringsTheDirectionIntoTheNewUnit) {
  const double sums[] = {0.01, 6, 1, 40};  // term of the change, r.u, norm term, u.w
  State in_one_unit, in_two;
  for (State* s : {&in_one_unit, &in_two}) {
    s->iterations = 3;
    s->phase = Phase::iterating;
    s->verified = 100;
    s->beta = 0.5;
    s->rho = 12;
    last_alpha(*s) = 0.25;
  }
  in_two.rho = 12.0 / 16;  // the old unit was four times the new one
  in_two.rescale = 4;
  SingleReductionCorrect{}(in_one_unit, sums);
  SingleReductionCorrect{}(in_two, sums);
  EXPECT_EQ(in_one_unit.beta, 0.25);
  EXPECT_EQ(in_two.beta, 4 * in_one_unit.beta);
  EXPECT_EQ(in_two.alpha, in_one_unit.alpha);
}

TEST(CorrectionPasses, SingleReductionCgsDirectionStays) {
  Rows rows;
  run<3>(CorrectResidual{rows.b.data(), rows.q.data(), rows.r.data(), rows.z.data(), nullptr,
                         rows.diagonal(), NormTerm{}});
  EXPECT_EQ(rows.z, (Three{2, -0.5, 12}));
  EXPECT_EQ(rows.p, Rows{}.p);
}

TEST(CorrectionPasses, AGeneralPreconditionersChangeIsFirstMadeThenAdded) {
  Rows rows;
  const auto changed = run<1>(
      ChangeResidual{rows.b.data(), rows.q.data(), rows.r.data(), rows.q.data(), NormTerm{}});
  EXPECT_EQ(rows.r, (Three{4, -2, 6}));
  EXPECT_EQ(rows.q, rows.change);
  EXPECT_EQ(changed[0], 14);
  const auto sums = run<2>(
      ChangeDirection{rows.q.data(), rows.r.data(), rows.z.data(), rows.p.data(), NormTerm{}});
  EXPECT_EQ(rows.z, (Three{11, 17, 32}));
  EXPECT_EQ(rows.p, (Three{101, 197, 302}));
  EXPECT_EQ(sums[0], 44 - 34 + 192);
  EXPECT_EQ(sums[1], 16 + 4 + 36);
}

// In the new unit 2 the true residual {4, -2, 6} is {2, -1, 3}. The old one is held in the unit 8,
// and would be {1.5, 0.5, 2} in the new one.
TEST(CorrectionPasses, VectorsInFp32ComeIntoTheNewUnitAndTheProductStays) {
  using ThreeFloats = std::array<float, 3>;
  Rows rows;
  const Three product = rows.q;
  ThreeFloats r{0.375f, 0.125f, 0.5f}, z{2.5f, 5, 7.5f}, p{25, 50, 75}, change{};
  State s;
  s.unit = 2;
  s.rescale = 4;
  const auto changed = run<1>(
      ChangeResidualOf<float>{rows.b.data(), rows.q.data(), r.data(), change.data(), NormTerm{}},
      s);
  EXPECT_EQ(r, (ThreeFloats{2, -1, 3}));
  EXPECT_EQ(change, (ThreeFloats{0.5f, -1.5f, 1}));
  EXPECT_EQ(rows.q, product);
  EXPECT_EQ(changed[0], 3.5);
  const auto sums =
      run<2>(ChangeDirectionOf<float>{change.data(), r.data(), z.data(), p.data(), NormTerm{}}, s);
  EXPECT_EQ(z, (ThreeFloats{10.5f, 18.5f, 31}));
  EXPECT_EQ(p, (ThreeFloats{100.5f, 198.5f, 301}));
  EXPECT_EQ(sums[0], 21 - 18.5 + 93);
  EXPECT_EQ(sums[1], 4 + 1 + 9);
}

TEST(CorrectionPasses, BicgstabsPreconditionedDirectionChangesByThePreconditionedDifference) {
  Rows rows;
  Three& p_hat = rows.z;
  const auto sums = run<3>(CorrectRightResidual<double>{rows.b.data(), rows.q.data(), rows.r.data(),
                                                        rows.r0.data(), nullptr, p_hat.data(),
                                                        rows.diagonal(), NormTerm{}});
  EXPECT_EQ(rows.r, (Three{4, -2, 6}));
  EXPECT_EQ(p_hat, (Three{10.5, 19.25, 34}));
  EXPECT_EQ(sums[0], 14);
  EXPECT_EQ(sums[1], 16 + 4 + 36);
  EXPECT_EQ(sums[2], 4 - 4 - 6);
}

TEST(CorrectionPasses, BicgstabsOwnDirectionChangesAsTheResidualDoes) {
  Rows rows;
  Three& p_hat = rows.z;
  run<3>(CorrectRightResidual<double>{rows.b.data(), rows.q.data(), rows.r.data(), rows.r0.data(),
                                      rows.p.data(), p_hat.data(), Diagonal{}, NormTerm{}});
  EXPECT_EQ(rows.p, (Three{101, 197, 302}));
  EXPECT_EQ(p_hat, Rows{}.z);
}

TEST(CorrectionPasses, Bicgstab2sDirectionChangesAsTheResidualDoesAndIsPreconditionedAnew) {
  Rows rows;
  Three& u_hat = rows.z;
  const auto sums =
      run<3>(CorrectBothResiduals{rows.b.data(), rows.q.data(), rows.r.data(), rows.r0.data(),
                                  rows.p.data(), u_hat.data(), rows.diagonal(), NormTerm{}});
  EXPECT_EQ(rows.r, (Three{4, -2, 6}));
  EXPECT_EQ(rows.p, (Three{101, 197, 302}));
  EXPECT_EQ(u_hat, (Three{50.5, 49.25, 604}));
  EXPECT_EQ(sums[0], 14);
  EXPECT_EQ(sums[1], 16 + 4 + 36);
  EXPECT_EQ(sums[2], 4 - 4 - 6);
}

// With R = {2, 1, 0.5} and the parts 0.5 and 3, the term of r = {4, -2, 6} is 0.5 (16 + 4 + 36) +
// 3 (64 + 4 + 9), and that of its change {1, -3, 2} is 0.5 (1 + 9 + 4) + 3 (4 + 9 + 1).
TEST(CorrectionPasses, RowsAreWeighed) {
  const Three scales{2, 1, 0.5};
  State s;
  s.plain_part = 0.5;
  s.other_part = 3;
  const NormTerm norm{{RowWeights::From::array, {scales.data(), 0}}};
  Rows rows;
  const auto of_cg = run<3>(CorrectResidual{rows.b.data(), rows.q.data(), rows.r.data(),
                                            rows.z.data(), rows.p.data(), rows.diagonal(), norm},
                            s);
  EXPECT_EQ(of_cg[0], 49);
  EXPECT_EQ(of_cg[2], 259);
  rows = {};
  const auto of_bicgstab = run<3>(
      CorrectRightResidual<double>{rows.b.data(), rows.q.data(), rows.r.data(), rows.r0.data(),
                                   nullptr, rows.z.data(), rows.diagonal(), norm},
      s);
  EXPECT_EQ(of_bicgstab[0], 49);
  EXPECT_EQ(of_bicgstab[1], 259);
  rows = {};
  EXPECT_EQ(run<1>(ChangeResidual{rows.b.data(), rows.q.data(), rows.r.data(), rows.q.data(), norm},
                   s)[0],
            49);
  rows = {};
  EXPECT_EQ(run<1>(PlainResidualNorm{rows.b.data(), rows.q.data(), norm}, s)[0], 259);
}

// b = {5, 1, 8} and R b = {10, 1, 4}; r = {4, -2, 6} and R r = {8, -2, 3}.
TEST(RowParts, MakeBothNormsThatOfB) {
  const Three scales{2, 1, 0.5};
  const Rows rows;
  const auto sums = run<4>(RowNorms{rows.b.data(), rows.q.data(), {scales.data(), 0}});
  EXPECT_EQ(sums, (std::array<double, 4>{90, 117, 56, 77}));
  State s;
  s.rule.rows = RowTest::both;
  SetRowParts{}(s, sums.data());
  EXPECT_EQ(s.plain_part, 0.5);
  EXPECT_EQ(s.other_part, 0.5 * (90.0 / 117));
  s.rule.rows = RowTest::only;
  SetRowParts{}(s, sums.data());
  EXPECT_EQ(s.plain_part, 0);
  EXPECT_EQ(s.other_part, 90.0 / 117);
  s.rule.relative_to_initial_residual = true;
  SetRowParts{}(s, sums.data());
  EXPECT_EQ(s.other_part, 56.0 / 77);

  State zero;  // b = 0 and r = 0: there is no such ratio
  zero.rule.rows = RowTest::both;
  SetRowParts{}(zero, std::array<double, 4>{}.data());
  EXPECT_EQ(zero.plain_part, 1);
  EXPECT_EQ(zero.other_part, 0);
}

// Neither norm may exceed the target, so that their root mean square must be smaller by sqrt(2).
TEST(RowParts, LowerTheTargetOfBoth) {
  State s;
  s.reference = 10;
  s.rule.rtol = 0.5;
  set_targets(s, 20);
  EXPECT_EQ(s.target, 5);
  EXPECT_EQ(s.bound, 2e5) << "growth is that of the first residual, where it is larger than b";
  s.plain_part = s.other_part = 0.5;
  set_targets(s, 1);
  EXPECT_DOUBLE_EQ(s.target, 5 / std::sqrt(2.0));
  s.plain_part = 0;
  set_targets(s, 1);
  EXPECT_EQ(s.target, 5);
}

TEST(CorrectionPasses, WhatRoundingTookFromARowIsGivenBack) {
  const std::array<float, 3> defect{0.5f, -0.25f, 2};
  Rows rows;
  run<0>(Compensate{defect.data(), rows.b.data(), rows.q.data()});
  EXPECT_EQ(rows.q, (Three{3.5, 2.75, 18}));
  rows = {};
  const auto sums = run<1>(CompensateAndDot{{defect.data(), rows.b.data(), rows.q.data()}});
  EXPECT_EQ(rows.q, (Three{3.5, 2.75, 18}));
  EXPECT_EQ(sums[0], 17.5 + 2.75 + 144);
}

// A state in the middle of a solve whose last true residual had the norm 16.
State in_a_solve() {
  State s;
  s.rule.rtol = 1e-8;
  s.correct_below = kCorrectBelow;
  s.reference = 16;
  s.target = 1e-8 * 16;
  s.verified = 16;
  s.iterations = 20;
  s.restarted_at = 10;
  s.phase = Phase::finishing;
  s.due = Due::correction;
  s.rho = 8;
  s.alpha = 3;
  last_alpha(s) = 2;
  s.beta = 0.5;
  first_curvature(s) = 1;
  return s;
}

// rho changes from 8 to 4, so that beta changes from 0.5 to 0.25, and
// p.Ap = u.w - beta rho / (last alpha) = 10 - 0.25 * 4 / 2.
TEST(CorrectionSteps, SingleReductionCgsBetaAndAlphaAreThoseOfTheTrueResidual) {
  State s = in_a_solve();
  const double sums[] = {0.01, 4, 0.25, 10};
  SingleReductionCorrect{}(s, sums);
  EXPECT_TRUE(running(s));
  EXPECT_TRUE(live(s));
  EXPECT_EQ(s.rho, 4);
  EXPECT_EQ(s.beta, 0.25);
  EXPECT_EQ(last_curvature(s), 9.5);
  EXPECT_EQ(s.alpha, 4 / 9.5);
  EXPECT_EQ(inverse_rho(s), 0.25);
  EXPECT_EQ(s.norm, 0.5);
  EXPECT_EQ(s.verified, 0.5);
  EXPECT_EQ(s.correct_at, 0.5 / 32);
  EXPECT_EQ(s.restarted_at, 20);
  EXPECT_EQ(s.replacements, 1);
  EXPECT_EQ(s.due, Due::nothing);
}

TEST(CorrectionSteps, CgsRhoAndNormAreThoseOfTheTrueResidual) {
  State s = in_a_solve();
  const double sums[] = {0.01, 4, 0.25};
  CgCorrect{}(s, sums);
  EXPECT_TRUE(running(s));
  EXPECT_EQ(s.rho, 4);
  EXPECT_EQ(s.norm, 0.5);
  EXPECT_EQ(s.beta, 0.5) << "a pass has already corrected the direction";
}

TEST(CorrectionSteps, BicgstabsAlphaIsThatOfTheTrueResidual) {
  State s = in_a_solve();
  const double sums[] = {0.01, 0.25, 6, 12};
  BicgstabCorrect{}(s, sums);
  EXPECT_TRUE(running(s));
  EXPECT_EQ(s.rho, 6);
  EXPECT_EQ(s.norm, 0.5);
  EXPECT_EQ(s.alpha, 0.5);
}

// sqrt(0.0626) is slightly more than half of sqrt(0.25).
TEST(CorrectionSteps, AChangeOfMoreThanHalfTheResidualIsANewStart) {
  for (const double squared : {0.0625, 0.0626}) {
    State s = in_a_solve();
    const double sums[] = {squared, 4, 0.25, 10};
    SingleReductionCorrect{}(s, sums);
    EXPECT_EQ(s.due, squared > 0.0625 ? Due::new_start : Due::nothing);
    EXPECT_EQ(running(s), squared <= 0.0625);
    EXPECT_EQ(needs_true_residual(s), squared > 0.0625);
    EXPECT_EQ(s.replacements, squared > 0.0625 ? 0 : 1) << "the new start counts it";
  }
}

// The norm falls to 0.5 from 16, and the residual was off by `change`.
State corrected_by(double change) {
  State s = in_a_solve();
  s.bound = 1e5;
  const double sums[] = {change * change, 4, 0.25};
  CgCorrect{}(s, sums);
  EXPECT_TRUE(running(s));
  return s;
}

TEST(CorrectionSteps, ASmallChangeLetsTheNextCorrectionComeLater) {
  EXPECT_EQ(corrected_by(0x1p-11).correct_at, 0.5 / 32) << "1024 * 2^-11 / 16 is a 32nd";
  EXPECT_EQ(corrected_by(0x1p-14).correct_at, 0.5 / 256);
  EXPECT_EQ(corrected_by(0).correct_at, 0.5 * 0x1p-20);
}

TEST(CorrectionSteps, AfterManyIterationsACorrectionComesNoLater) {
  for (const std::int64_t iterations : {kCorrectBy - 1, kCorrectBy}) {
    State s = corrected_by(0x1p-14);
    s.iterations = s.restarted_at + iterations;
    judge(s, 0.5 / 32);
    EXPECT_EQ(s.due, iterations < kCorrectBy ? Due::nothing : Due::correction);
  }
  State s = corrected_by(0x1p-14);
  s.iterations = s.restarted_at + 1;
  judge(s, 0.5 / 256);
  EXPECT_EQ(s.due, Due::correction);
}

TEST(CorrectionSteps, TheExactProductGoesOnFromTheIterateUnlessThatHasGoneAstray) {
  for (const double norm : {15.0, 17.0, double{NAN}}) {
    State s = in_a_solve();
    s.norm = norm;
    s.stalls = 2;
    s.correct_at = 0.5;
    stop(s, Reason::indefinite_matrix);
    ASSERT_TRUE(gave_up(s));
    EXPECT_EQ(go_on_exactly(s), !(norm <= 16)) << "||b|| is 16";
    EXPECT_EQ(s.reason, Reason::running);
    EXPECT_TRUE(running(s));
    EXPECT_TRUE(live(s));
    EXPECT_EQ(s.due, Due::new_start);
    EXPECT_EQ(s.stalls, 0);
    EXPECT_EQ(first_curvature(s), 0) << "the sign was that of the rounded matrix";
    EXPECT_EQ(s.correct_below, 0);
    EXPECT_EQ(s.correct_at, 0);
    EXPECT_EQ(s.iterations, 20) << "iterations with both products count";
  }
}

TEST(CorrectionSteps, ATrueResidualThatMeetsTheToleranceIsTheEnd) {
  State s = in_a_solve();
  const double sums[] = {1e-20, 1e-17, 1e-16, 1};
  CgCorrect{}(s, sums);
  EXPECT_FALSE(running(s));
  EXPECT_EQ(s.reason, Reason::rtol);
}

// The third one is 0.14, of which the half of the smallest before it, 0.1, is less.
TEST(CorrectionSteps, StandingStillIsMeasuredFromTheSmallestResidual) {
  State s = in_a_solve();
  s.verified = 1;
  for (const double norm : {0.1, 0.3, 0.14}) {
    s.due = Due::confirmation;
    verify(s, norm);
    EXPECT_EQ(s.verified, 0.1);
  }
  EXPECT_EQ(s.stalls, 2);
  EXPECT_TRUE(running(s));
}

TEST(CorrectionSteps, AnIterationBeforeTheLeastIsNotTheLast) {
  State s = in_a_solve();
  s.correct_below = 0;
  s.target = 1;
  s.rule.min_iterations = 22;
  note_whether_last(s, 0.25);  // of iteration 21
  EXPECT_EQ(s.needs_no_z, 0);
  ++s.iterations;
  note_whether_last(s, 0.25);
  EXPECT_EQ(s.needs_no_z, 1);
}

TEST(GoingOnSteps, BicgstabBeginsAnewWhereItsShadowIsOrthogonal) {
  for (const auto& [rho, r0_v] : {std::pair(0.0, 0.5), std::pair(0.5, 0.0), std::pair(0.5, 0.25)}) {
    State s = in_a_solve();
    s.due = Due::nothing;
    const double sums[] = {1, rho, r0_v};
    BicgstabGoOn{}(s, sums);
    const bool serves = rho * r0_v != 0;
    EXPECT_EQ(running(s), serves);
    EXPECT_EQ(s.due, serves ? Due::nothing : Due::new_start);
    if (serves) {
      EXPECT_EQ(s.alpha, 2);
    }
  }
}

TEST(GoingOnSteps, CgBeginsAnewWhereTheDirectionIsThatOfAnotherResidual) {
  for (const double r_p : {-1.0, 0.0, 1.0}) {
    State s = in_a_solve();
    s.phase = Phase::iterating;
    s.due = Due::nothing;
    const double sums[] = {r_p, 4};
    GoOnStepLength{}(s, sums);
    EXPECT_EQ(running(s), r_p > 0);
    EXPECT_EQ(s.due, r_p > 0 ? Due::nothing : Due::new_start);
  }
}

TEST(CorrectionSteps, AResidualThatIsNotANumberIsTheEnd) {
  State s = in_a_solve();
  const double sums[] = {NAN, NAN, NAN, NAN};
  SingleReductionCorrect{}(s, sums);
  EXPECT_FALSE(running(s));
  EXPECT_EQ(s.reason, Reason::not_finite);
}

}  // namespace
}  // namespace trireme::solvers
