// SPDX-License-Identifier: BSD-3-Clause
// Which rung comes next, and what is kept of those that came before.
#include "app/ladder/climb.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "planning/acceptance.hpp"

namespace trireme {
namespace {

bool met_negative_curvature(int reason) {
  return reason == KSP_DIVERGED_INDEFINITE_PC || reason == KSP_DIVERGED_INDEFINITE_MAT;
}

constexpr std::string_view kPassedOver = "passed over";

// Whether another rung may do what this one cannot.
bool another_may_serve(const AgreedError& error, const Rung& rung, bool first) {
  switch (error.code()) {
    case ExitCode::input:
    case ExitCode::breakdown:
      return true;
    case ExitCode::resource:
      return rung.is_direct();
    case ExitCode::usage:
      return !first;
    default:
      return false;
  }
}

// What is left after all rungs have failed, with `residual` of ||b|| at best.
std::string what_is_left(const std::vector<RungOutcome>& rungs, double residual) {
  constexpr double kNearRounding = 1e-14;
  if (residual < kNearRounding)
    return "; the tolerance is below what FP64 allows here, as every rung of method: auto shows; "
           "raise rtol";
  const auto any_says = [&](std::string_view text) {
    return std::ranges::any_of(
        rungs, [&](const RungOutcome& r) { return r.verdict.find(text) != std::string::npos; });
  };
  std::string clause = "; every rung of method: auto was tried";
  if (any_says(kPassedOver))
    clause += "; more memory or ranks would make room for complete factors";
  if (any_says("maximum iterations")) clause += "; solver.max_iterations may be raised";
  return clause;
}

}  // namespace

struct Ladder::Climb {
  explicit Climb(std::size_t count) : fates(count, Fate::untried) {}

  std::vector<Fate> fates;
  std::vector<RungOutcome> rungs;
  Stopwatch watch;
  std::optional<KernelRun> best;      // with the smallest residual
  std::vector<Array<double>> from;    // its solutions
  std::vector<std::string> tried;     // methods
  std::vector<std::string> failures;  // "minres: breakdown: ..."
  std::optional<AgreedError> error;   // of the last rung that could not run
  bool to_the_end = false;            // rungs that were left run once more
  bool indefinite = false;            // CG has said so
  bool for_direct = false;            // the last rung was left for it
  double left_ahead = std::numeric_limits<double>::infinity();  // seconds, of that rung
  bool stopped = false;  // by a signal or an error beside the solves
  double seconds_of_last = 0;
  // How complete factors have ended, where they say more than an iteration that did not converge.
  std::optional<RunOutcome> factors;
};

void Ladder::begin_at(std::size_t k, std::string why) {
  begins_at_ = k;
  begins_why_ = std::move(why);
}

bool Ladder::serves(std::size_t k, const Climb& climb) const {
  if (climb.fates[k] != (climb.to_the_end ? Fate::left : Fate::untried)) return false;
  return rungs_[k].serves == RungFor::any_failure || climb.indefinite;
}

std::optional<std::size_t> Ladder::next(const Climb& climb) {
  if (climb.rungs.empty()) return begins_at_;
  const auto direct = std::ranges::find_if(rungs_, &Rung::is_direct) - rungs_.begin();
  const auto k_direct = static_cast<std::size_t>(direct);
  if (k_direct < rungs_.size() && serves(k_direct, climb)) {
    double spent = climb.watch.seconds();
    MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, comm_);
    if (offer_.can_be_asked() && spent > offer_.asking_seconds()) offer_.ask();
    const auto cost = offer_.seconds(1);
    if (climb.for_direct || (cost && *cost <= spent)) return k_direct;
  }
  for (std::size_t k = 0; k < rungs_.size(); ++k)
    if (serves(k, climb)) return k;
  return std::nullopt;
}

bool Ladder::solves(std::size_t k, const RunRung& run, Climb& climb) {
  const Rung& rung = rungs_[k];
  const bool first = climb.rungs.empty();
  RungOutcome& now = climb.rungs.emplace_back();
  now.method = rung.method;
  now.preconditioner = rung.preconditioner_word();
  now.scaling = rung.scaling;
  now.why = first && k == begins_at_ && !begins_why_.empty() ? begins_why_ : rung.why;
  if (const auto& forecast = offer_.forecast(); rung.is_direct() && forecast && !forecast->fits) {
    climb.fates[k] = Fate::passed_over;
    now.verdict =
        fmt::format("{}: the factors would take {:.2g} GB, and the memory that is left is less",
                    kPassedOver, 1e-9 * forecast->bytes);
    return false;
  }
  const Stopwatch watch;
  RungWatch watched(comm_, offer_, rung.may_stand_still, climb.watch.seconds());
  const bool alone = rungs_.size() == 1 || rung.is_direct() || climb.to_the_end;
  // Refinement by complete factors gains nothing from a guess, and loses digits by a large one.
  const std::vector<Array<double>> none;
  bool last = true;
  for (std::size_t j = 0; j < rungs_.size(); ++j) last = last && (j == k || !serves(j, climb));
  try {
    KernelRun result = run({.rung = rung,
                            .watch = alone ? nullptr : &watched,
                            .from = rung.is_direct() ? none : climb.from,
                            .tried = climb.tried,
                            .analysis = rung.is_direct() ? offer_.take_analysis() : nullptr,
                            .last = last,
                            .first = first});
    now.ran = true;
    now.seconds = climb.seconds_of_last = max_over_ranks(comm_, watch.seconds());
    const RunOutcome& o = result.outcome;
    now.method = o.method;
    now.preconditioner = o.preconditioner;
    now.scaling = o.scaling;
    now.solved = o.converged;
    now.iterations = o.iterations;
    now.relative_residual = o.relative_residual;
    now.verdict = watched.leaves() ? watched.why() : o.reason;
    if (rung.is_direct()) offer_.withdraw();
    if (rung.is_direct() && o.exit_code == ExitCode::breakdown) climb.factors = o;
    climb.indefinite |= met_negative_curvature(o.petsc_reason);
    climb.for_direct = watched.leaves_for_direct();
    if (climb.for_direct) climb.left_ahead = watched.left_ahead();
    const bool left = watched.leaves();
    climb.fates[k] = o.converged ? Fate::solved : left ? Fate::left : Fate::failed;
    climb.tried.push_back(o.method);
    // What went wrong beside the solves, such as a step without its data, is no failure of a rung.
    const bool of_solves =
        o.converged || o.exit_code == ExitCode::not_converged || o.exit_code == ExitCode::breakdown;
    climb.stopped = InterruptGuard::asked_anywhere(comm_) || !of_solves;
    const bool better = !climb.best || o.converged || climb.stopped ||
                        o.relative_residual < climb.best->outcome.relative_residual;
    if (!o.converged) climb.failures.push_back(fmt::format("{}: {}", o.method, now.verdict));
    if (better) {
      climb.from =
          o.relative_residual < kGoodGuess ? result.solutions : std::vector<Array<double>>();
      climb.best = std::move(result);
    }
    // A rung that was left for complete factors which then took longer than what was ahead (because
    // the machine was busy, say) is where the next run begins.
    if (climb.best->outcome.converged && !(rung.is_direct() && now.seconds > climb.left_ahead))
      found_ = k;
    return climb.best->outcome.converged || climb.stopped;
  } catch (const AgreedError& error) {
    if (!another_may_serve(error, rung, first && begins_at_ == 0)) throw;
    now.seconds = max_over_ranks(comm_, watch.seconds());
    now.verdict = error.what();
    if (rung.is_direct()) offer_.withdraw();
    climb.fates[k] = Fate::failed;
    climb.tried.push_back(rung.method);
    climb.error = error;
    return false;
  }
}

KernelRun Ladder::climb(const RunRung& run) {
  Climb climb(rungs_.size());
  found_.reset();
  for (;;) {
    const auto k = next(climb);
    if (!k) {
      const bool any_left = std::ranges::find(climb.fates, Fate::left) != climb.fates.end();
      if (climb.to_the_end || !any_left) break;
      climb.to_the_end = true;
      continue;
    }
    if (solves(*k, run, climb)) break;
  }
  if (!climb.best) throw AgreedError(*climb.error);
  finish(climb);
  return std::move(*climb.best);
}

void Ladder::finish(Climb& climb) {
  RunOutcome& o = climb.best->outcome;
  if (seen_.seen.empty()) return;  // nothing was chosen
  double all = max_over_ranks(comm_, climb.watch.seconds());
  LadderOutcome ladder = seen_;
  ladder.began_at = begins_why_;
  ladder.rungs = std::move(climb.rungs);
  o.seconds.ladder = seen_.look_seconds + std::max(0.0, all - climb.seconds_of_last);
  if (o.converged && ladder.rungs.size() > 1) {
    const RungOutcome& last = ladder.rungs.back();
    o.notes.push_back(fmt::format(
        "solver: {{method: {}{}{}}} begins with what has solved it", last.method,
        last.method == kDirect ? "" : fmt::format(", preconditioner: {}", last.preconditioner),
        last.scaling == Scaling::none ? ""
                                      : fmt::format(", scaling: {}", to_string(last.scaling))));
    o.deterministic = false;  // clocks have decided
  }
  if (!o.converged && !climb.stopped && climb.factors) {
    o.exit_code = climb.factors->exit_code;
    o.reason = climb.factors->reason;
    o.petsc_reason = climb.factors->petsc_reason;
  }
  if (!o.converged && !climb.stopped && !climb.factors)
    o.reason.insert(std::min(o.reason.rfind(" ("), o.reason.size()),
                    what_is_left(ladder.rungs, o.relative_residual));
  if (!o.converged && !climb.stopped && climb.failures.size() > 1) {
    std::vector<std::string> others(climb.failures.begin(), climb.failures.end());
    o.notes.push_back(
        fmt::format("every rung of method: auto has failed: {}", fmt::join(others, "; ")));
  }
  o.ladder = std::move(ladder);
}

}  // namespace trireme
