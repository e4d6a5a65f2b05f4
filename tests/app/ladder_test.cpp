// SPDX-License-Identifier: BSD-3-Clause
// `method: auto`: which rungs a matrix gets, which one comes next, and when a rung is left.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/ladder/case_rungs.hpp"
#include "app/ladder/climb.hpp"
#include "app/ladder/rung_watch.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using Names = std::vector<std::string>;

MatrixLook symmetric(std::int64_t positive, std::int64_t negative, std::int64_t zero) {
  MatrixLook look;
  look.rows = positive + negative + zero;
  look.positive_diagonal = positive;
  look.negative_diagonal = negative;
  look.zero_diagonal = zero;
  return look;
}
MatrixLook nonsymmetric() {
  MatrixLook look = symmetric(5, 0, 0);
  look.symmetric_values = false;
  look.skew = 0.5;
  return look;
}

Case case_with(std::optional<AnyPreconditioner> preconditioner) {
  Case c;
  c.solver.preconditioner = std::move(preconditioner);
  return c;
}
const Case kAny = case_with(std::nullopt);

Names names(const std::vector<Rung>& rungs) {
  Names all;
  for (const Rung& rung : rungs) all.push_back(rung.method + "/" + rung.preconditioner_word());
  return all;
}

TEST(Rungs, FollowTheMatrix) {
  EXPECT_EQ(names(rungs_for(kAny, symmetric(5, 0, 0))),
            (Names{"cg/auto", "minres/auto", "direct/auto", "minres/none"}));
  EXPECT_EQ(names(rungs_for(kAny, symmetric(0, 5, 0))),
            (Names{"cg/auto", "minres/auto", "direct/auto", "minres/none"}));
  EXPECT_EQ(names(rungs_for(kAny, symmetric(3, 2, 0))),
            (Names{"minres/auto", "minres/none", "bicgstab2/ilu", "direct/auto"}));
  EXPECT_EQ(names(rungs_for(kAny, symmetric(3, 0, 2))),
            (Names{"minres/auto", "minres/none", "bicgstab2/ilu", "direct/auto"}));
  EXPECT_EQ(names(rungs_for(kAny, nonsymmetric())),
            (Names{"bicgstab/auto", "bicgstab2/auto", "bicgstab2/ilu", "direct/auto",
                   "bicgstab2/none", "gmres/auto"}));
}

// "`bicgstab2` with `preconditioner: ilu` and `scaling: matching`"
std::string as_on_the_page(const Rung& rung) {
  Names settings;
  if (rung.preconditioner)
    settings.push_back("`preconditioner: " + rung.preconditioner_word() + "`");
  if (rung.scaling != Scaling::none)
    settings.push_back(fmt::format("`scaling: {}`", to_string(rung.scaling)));
  if (rung.restart > 0) settings.push_back(fmt::format("`restart: {}`", rung.restart));
  return fmt::format(
      "`{}`{}{}{}", rung.method, settings.empty() ? "" : " with ", fmt::join(settings, " and "),
      rung.serves == RungFor::indefinite ? ", where CG meets a negative curvature" : "");
}

// Where the rungs change, this says which line of the page they need.
TEST(Rungs, AreThoseOfTheTableOnThePage) {
  std::ifstream page(RUNNING_PAGE);
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const auto& [matrix, look] :
       {std::pair("symmetric, with a diagonal of one sign", symmetric(5, 0, 0)),
        std::pair("symmetric, with both signs or zeros on the diagonal", symmetric(3, 2, 0)),
        std::pair("not symmetric", nonsymmetric())}) {
    Names rungs;
    for (const Rung& rung : rungs_for(kAny, look)) rungs.push_back(as_on_the_page(rung));
    const std::string line = fmt::format("\n| {} | {} |\n", matrix, fmt::join(rungs, "; "));
    EXPECT_NE(text.find(line), std::string::npos) << "missing in " << RUNNING_PAGE << ":" << line;
  }
}

TEST(Rungs, KeepWhatTheCaseNames) {
  Case named = case_with(AnyPreconditioner(solvers::PreconditionerKind::jacobi));
  named.solver.scaling = Scaling::ruiz;
  const std::vector<Rung> rungs = rungs_for(named, nonsymmetric());
  EXPECT_EQ(names(rungs), (Names{"bicgstab/jacobi", "bicgstab2/jacobi", "gmres/jacobi"}));
  for (const Rung& rung : rungs) {
    EXPECT_EQ(case_of(named, rung).solver.scaling, Scaling::ruiz);
    EXPECT_EQ(case_of(named, rung).solver.method, rung.method);
  }
  Case resident = kAny, mixed = kAny;
  resident.solver.engine = Engine::resident;
  mixed.precisions = {Precision::full, Precision::mixed};
  for (const Case& c : {resident, mixed})
    for (const Rung& rung : rungs_for(c, nonsymmetric()))
      EXPECT_TRUE(!rung.is_direct() && (!rung.preconditioner || rung.preconditioner->own()));
  Case cycles = kAny;
  cycles.solver.restart = 50;
  const Rung last = rungs_for(kAny, nonsymmetric()).back();
  EXPECT_EQ(case_of(kAny, last).solver.restart, 200);
  EXPECT_EQ(case_of(cycles, last).solver.restart, 50);
  Case sequence = kAny;
  sequence.problem.steps.emplace_back();
  EXPECT_EQ(rungs_for(sequence, nonsymmetric()), rungs_for(kAny, nonsymmetric()));
  const Case factors = case_with(AnyPreconditioner(std::string(kLu)));
  EXPECT_EQ(names(rungs_for(factors, nonsymmetric())), (Names{"direct/lu"}));
}

// What a rung comes to in a climb that solves nothing.
struct Fake {
  ExitCode code = ExitCode::not_converged;
  int reason = KSP_DIVERGED_ITS;
  double residual = 0.5;
  bool throws = false;
};

class Climbs : public ::testing::Test {
 protected:
  // Climbs `rungs`, of which each comes to what `fakes` says for its place; those beyond solve.
  KernelRun climb(std::vector<Rung> rungs, std::vector<Fake> fakes, DirectOffer offer = {}) {
    ladder_ =
        std::make_unique<Ladder>(MPI_COMM_WORLD, std::move(rungs),
                                 LadderOutcome{.seen = "made up", .rungs = {}}, std::move(offer));
    tried_.clear();
    return ladder_->climb([&](const RungTry& with) {
      const std::size_t k = tried_.size();
      tried_.push_back(with.rung.method);
      guesses_.push_back(with.from.size());
      last_.push_back(with.last);
      watched_.push_back(with.watch != nullptr);
      const Fake fake = k < fakes.size() ? fakes[k] : Fake{ExitCode::converged, 2, 1e-9, false};
      if (fake.throws) collectively(MPI_COMM_WORLD, [&] { fail(fake.code, "cannot run"); });
      KernelRun run;
      run.outcome.method = with.rung.method;
      run.outcome.preconditioner = with.rung.preconditioner_word();
      run.outcome.exit_code = fake.code;
      run.outcome.converged = fake.code == ExitCode::converged;
      run.outcome.petsc_reason = fake.reason;
      run.outcome.relative_residual = fake.residual;
      run.outcome.reason = "as the test says";
      run.solutions.emplace_back(3);
      return run;
    });
  }

  std::unique_ptr<Ladder> ladder_;
  Names tried_;
  std::vector<std::size_t> guesses_;
  std::vector<bool> last_, watched_;
};

TEST_F(Climbs, EndWithTheFirstRungThatSolves) {
  const KernelRun run = climb(rungs_for(kAny, nonsymmetric()), {});
  EXPECT_EQ(tried_, (Names{"bicgstab"}));
  EXPECT_EQ(last_, (std::vector<bool>{false}));
  ASSERT_TRUE(run.outcome.ladder);
  EXPECT_EQ(run.outcome.ladder->rungs.size(), 1U);
  EXPECT_TRUE(run.outcome.notes.empty());  // nothing else is to be written down
  EXPECT_EQ(ladder_->found(), 0U);
}

TEST_F(Climbs, TakeMinresOnlyAfterANegativeCurvature) {
  climb(rungs_for(kAny, symmetric(5, 0, 0)), {{ExitCode::breakdown, KSP_DIVERGED_INDEFINITE_MAT}});
  EXPECT_EQ(tried_, (Names{"cg", "minres"}));
  climb(rungs_for(kAny, symmetric(5, 0, 0)), {{ExitCode::not_converged, KSP_DIVERGED_ITS}});
  EXPECT_EQ(tried_, (Names{"cg", "direct"}));
}

TEST_F(Climbs, GoOnFromAGoodXButNotIntoFactors) {
  const Fake close{.residual = 1e-3}, far{.residual = 0.9};
  climb(rungs_for(kAny, nonsymmetric()), {close, far, far});
  EXPECT_EQ(tried_, (Names{"bicgstab", "bicgstab2", "bicgstab2", "direct"}));
  // The x of the second rung is worse than that of the first one, which stays.
  EXPECT_EQ(guesses_, (std::vector<std::size_t>{0, 1, 1, 0}));
  EXPECT_EQ(watched_, (std::vector<bool>{true, true, true, false}));
  EXPECT_FALSE(last_.back());
}

TEST_F(Climbs, KeepTheBestOfWhatHasFailed) {
  const KernelRun run =
      climb(rungs_for(kAny, nonsymmetric()), {{.residual = 0.5},
                                              {.residual = 0.01},
                                              {.residual = 0.7},
                                              {.code = ExitCode::breakdown, .residual = 0.6},
                                              {.residual = 0.6},
                                              {.residual = 0.6}});
  EXPECT_EQ(run.outcome.method, "bicgstab2");
  EXPECT_FALSE(run.outcome.converged);
  EXPECT_EQ(run.outcome.exit_code, ExitCode::breakdown);  // of the factors
  EXPECT_EQ(run.outcome.ladder->rungs.size(), 6U);
  EXPECT_FALSE(ladder_->found());
  ASSERT_FALSE(run.outcome.notes.empty());
  EXPECT_NE(run.outcome.notes.back().find("every rung"), std::string::npos);
}

TEST_F(Climbs, PassOverWhatCannotRun) {
  const KernelRun run = climb(
      rungs_for(kAny, nonsymmetric()),
      {{}, {.code = ExitCode::usage, .throws = true}, {.code = ExitCode::input, .throws = true}});
  EXPECT_EQ(tried_.size(), 4U);
  EXPECT_TRUE(run.outcome.converged);
  EXPECT_FALSE(run.outcome.ladder->rungs[1].ran);
  EXPECT_EQ(run.outcome.ladder->rungs[1].verdict, "cannot run");
  EXPECT_EQ(ladder_->found(), 3U);
}

TEST_F(Climbs, DoNotHideErrorsThatNoRungWouldChange) {
  for (const ExitCode code : {ExitCode::usage, ExitCode::resource, ExitCode::internal})
    EXPECT_THROW(climb(rungs_for(kAny, nonsymmetric()), {{.code = code, .throws = true}}), Error);
  const Fake none{.code = ExitCode::breakdown, .throws = true};
  EXPECT_THROW(climb(rungs_for(kAny, nonsymmetric()), {none, none, none, none, none, none}), Error);
}

TEST_F(Climbs, EndWithWhatIsNoFailureOfARung) {
  const KernelRun run =
      climb(rungs_for(kAny, nonsymmetric()), {{.code = ExitCode::input, .residual = 1}});
  EXPECT_EQ(tried_, (Names{"bicgstab"}));
  EXPECT_EQ(run.outcome.exit_code, ExitCode::input);
}

TEST_F(Climbs, JumpToFactorsThatTakeLessThanWasSpent) {
  const auto ask = [] { return DirectForecast{.fits = true}; };
  climb(rungs_for(kAny, nonsymmetric()), {{}}, DirectOffer(ask, 0, false));
  EXPECT_EQ(tried_, (Names{"bicgstab", "direct"}));
}

TEST_F(Climbs, PassOverFactorsThatDoNotFit) {
  const auto ask = [] { return DirectForecast{.bytes = 5e12, .fits = false}; };
  const KernelRun run =
      climb(rungs_for(kAny, nonsymmetric()), {{}, {}, {}}, DirectOffer(ask, 0, false));
  EXPECT_EQ(tried_, (Names{"bicgstab", "bicgstab2", "bicgstab2", "bicgstab2"}));
  EXPECT_NE(run.outcome.ladder->rungs[3].verdict.find("5e+03 GB"), std::string::npos);
}

TEST_F(Climbs, EndWithALineThatSaysWhatIsLeft) {
  const auto ask = [] { return DirectForecast{.bytes = 5e12, .fits = false}; };
  const KernelRun run =
      climb(rungs_for(kAny, nonsymmetric()), std::vector<Fake>(9), DirectOffer(ask, 0, false));
  EXPECT_EQ(run.outcome.reason,
            "as the test says; every rung of method: auto was tried; more memory or ranks would "
            "make room for complete factors");
}

TEST_F(Climbs, SayWhereTheToleranceIsBelowRounding) {
  std::vector<Fake> fakes(9);
  for (Fake& fake : fakes) fake.residual = 3e-16;
  EXPECT_NE(climb(rungs_for(kAny, nonsymmetric()), fakes).outcome.reason.find("raise rtol"),
            std::string::npos);
}

TEST_F(Climbs, BeginWhereAnEarlierOneHasEnded) {
  ladder_ = std::make_unique<Ladder>(MPI_COMM_WORLD, rungs_for(kAny, nonsymmetric()),
                                     LadderOutcome{.seen = "made up", .rungs = {}}, DirectOffer());
  ladder_->begin_at(2, "an earlier run has ended with it");
  Names tried;
  const KernelRun run = ladder_->climb([&](const RungTry& with) {
    tried.push_back(with.rung.method);
    KernelRun made;
    made.outcome.converged = tried.size() == 2;
    made.outcome.exit_code = ExitCode::not_converged;
    made.outcome.relative_residual = 1;
    return made;
  });
  EXPECT_EQ(tried, (Names{"bicgstab2", "bicgstab"}));
  EXPECT_EQ(run.outcome.ladder->rungs.front().why, "an earlier run has ended with it");
}

// The first rung needs some 60 ms and is left for factors that are expected to take 1 ms.
TEST_F(Climbs, DoNotFindFactorsThatTookLongerThanWhatWasAhead) {
  using std::chrono::milliseconds;
  const auto after_factors_of = [&](milliseconds time) {
    const auto ask = [] { return DirectForecast{.fits = true, .factor_seconds = 1e-3}; };
    ladder_ = std::make_unique<Ladder>(MPI_COMM_WORLD, rungs_for(kAny, nonsymmetric()),
                                       LadderOutcome{.seen = "made up", .rungs = {}},
                                       DirectOffer(ask, 1e-3, false));
    const KernelRun run = ladder_->climb([&](const RungTry& with) {
      KernelRun made;
      made.outcome.method = with.rung.method;
      made.outcome.exit_code = ExitCode::not_converged;
      if (with.rung.is_direct()) {
        std::this_thread::sleep_for(time);
        made.outcome.converged = true;
        return made;
      }
      const Interlude interlude = with.watch->interlude();
      with.watch->solve_begins(0);
      double norm = 1;
      for (int i = 0; i < 80 && !with.watch->leaves(); ++i, norm *= 0.8) {
        std::this_thread::sleep_for(milliseconds(1));
        with.watch->iteration(norm, 1e-8);
        if (interlude.due()) interlude.run();
      }
      return made;
    });
    EXPECT_EQ(run.outcome.ladder->rungs.size(), 2U);
    return ladder_->found();
  };
  EXPECT_TRUE(after_factors_of(milliseconds(0)));
  EXPECT_FALSE(after_factors_of(milliseconds(1500)));
}

// A solve whose residual falls by `factor` in each iteration, which takes a second.
struct Watched {
  explicit Watched(DirectOffer of, bool may_stand_still = false, double spent_before = 0)
      : offer(std::move(of)),
        watch(MPI_COMM_WORLD, offer, may_stand_still, spent_before, [this] { return now; }) {}

  // The iteration at which the rung was left; none: the solve came to its end.
  std::optional<int> run(double factor, int iterations, std::int64_t solves_after = 0,
                         double target = 1e-8) {
    const Interlude interlude = watch.interlude();
    watch.solve_begins(solves_after);
    double norm = 1;
    for (int i = 0; i < iterations && norm > target; ++i, norm *= factor) {
      now += 1;
      watch.iteration(norm, target);
      if (interlude.due() && interlude.run() == After::leave) return i;
    }
    return std::nullopt;
  }

  double now = 100;
  DirectOffer offer;
  RungWatch watch;
};

DirectOffer factors_in(double seconds, int* asked = nullptr, bool fit = true) {
  return {[=] {
            if (asked) ++*asked;
            return DirectForecast{.fits = fit, .factor_seconds = seconds, .solve_seconds = 1};
          },
          30, false};
}

TEST(RungWatch, LeavesForFactorsThatAreDoneSooner) {
  int asked = 0;
  Watched solve(factors_in(200, &asked));
  const auto left = solve.run(0.9999, 5000);  // 184,000 iterations are ahead
  ASSERT_TRUE(left);
  EXPECT_EQ(asked, 1);
  EXPECT_GE(*left, 100);  // half of what factors cost
  EXPECT_LE(*left, 125);
  EXPECT_TRUE(solve.watch.leaves_for_direct());
  EXPECT_NE(solve.watch.why().find("2e+02 s"), std::string::npos) << solve.watch.why();
}

TEST(RungWatch, StaysWhereIterationsAreDoneSooner) {
  int asked = 0;
  Watched solve(factors_in(2000, &asked));
  EXPECT_FALSE(solve.run(0.95, 5000));  // 360 iterations
  Watched dear(factors_in(1, &asked, false));
  EXPECT_FALSE(dear.run(0.9999, 3000));  // the factors do not fit
  Watched none{DirectOffer()};
  EXPECT_FALSE(none.run(0.9999, 3000));
}

TEST(RungWatch, ExpectsLongerFactorsOnAMachineThatIsBusy) {
  const auto factors_after = [](double analysis) {
    return DirectOffer(
        [=] {
          return DirectForecast{.analysis_seconds = analysis, .fits = true, .factor_seconds = 200};
        },
        30, false);
  };
  DirectOffer usual = factors_after(60), busy = factors_after(300);
  usual.ask();
  busy.ask();
  EXPECT_EQ(*usual.seconds(1), 60 + 200);
  EXPECT_EQ(*busy.seconds(1), 300 + 5 * 200);
}

TEST(RungWatch, DoesNotTakeAnInterruptionForTheRate) {
  Watched solve(factors_in(50));
  const Interlude interlude = solve.watch.interlude();
  solve.watch.solve_begins(0);
  double norm = 1;
  for (int i = 0; i < 60; ++i, norm *= 0.7) {
    solve.now += i == 15 ? 200 : 1;
    solve.watch.iteration(norm, 1e-8);
    if (interlude.due()) interlude.run();
    EXPECT_FALSE(solve.watch.leaves()) << i;
  }
}

TEST(RungWatch, CountsTheSolvesAhead) {
  // 40 iterations each: one solve is cheaper than factors, 50 are not.
  Watched one(factors_in(100));
  EXPECT_FALSE(one.run(0.63, 100));
  Watched many(factors_in(100));
  std::optional<int> left;
  int solves = 0;
  for (; solves < 50 && !many.watch.leaves(); ++solves) {
    left = many.run(0.63, 100, 49 - solves);
    KspResult result;
    result.verdict.converged = true;
    result.seconds = 40;
    many.watch.solve_ends(result);
  }
  EXPECT_TRUE(many.watch.leaves_for_direct());
  EXPECT_LT(solves, 5);
}

TEST(RungWatch, LeavesAResidualThatStandsStillOnlyWhereItMay) {
  Watched stays{DirectOffer()};
  EXPECT_FALSE(stays.run(1, 2000));
  Watched leaves(DirectOffer(), true);
  const auto left = leaves.run(1, 2000);
  ASSERT_TRUE(left);
  EXPECT_GE(*left, 399);
  EXPECT_FALSE(leaves.watch.leaves_for_direct());
  Watched slow(DirectOffer(), true);
  EXPECT_FALSE(slow.run(0.99, 2000));
}

// Below the target a loop goes on where the norm in which rows count alike does not hold.
TEST(RungWatch, DoesNotTakeANormBelowTheTargetForTheEnd) {
  Watched solve(factors_in(50));
  const Interlude interlude = solve.watch.interlude();
  solve.watch.solve_begins(0);
  bool left = false;
  for (int i = 0; i < 2000 && !left; ++i) {
    solve.now += 1;
    solve.watch.iteration(1e-9, 1e-8);
    left = interlude.due() && interlude.run() == After::leave;
  }
  EXPECT_TRUE(left);
}

}  // namespace
}  // namespace trireme
