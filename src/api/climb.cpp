// SPDX-License-Identifier: BSD-3-Clause
// One right-hand side, by one rung after another.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "api/caller_matrix.hpp"
#include "api/work.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "planning/acceptance.hpp"

namespace trireme::api {

using solvers::Reason;

// What a climb has seen so far.
struct Solver::Work::Climb {
  explicit Climb(std::size_t rungs) : fates(rungs, Fate::untried) {}
  enum class Fate { untried, left, failed };
  std::vector<Fate> fates;
  bool to_the_end = false;  // rungs that were left run once more
  bool indefinite = false;
  double best = std::numeric_limits<double>::infinity();  // excess of x
  Vector x;                                               // with that excess, where it is kept
  bool keeps_x = false;  // false: no rung has run, or the last one has converged
  Status status = Status::not_converged;
  std::optional<Error> error{};  // of the last rung that could not run
  bool ran = false;
};

std::optional<std::size_t> Solver::Work::next(const Climb& climb) const {
  const auto wanted = climb.to_the_end ? Climb::Fate::left : Climb::Fate::untried;
  const auto serves = [&](std::size_t k) {
    return climb.fates[k] == wanted &&
           (rungs_[k].serves == RungFor::any_failure || climb.indefinite || k == begins_at_);
  };
  if (!climb.ran && !climb.error && serves(begins_at_)) return begins_at_;
  for (std::size_t k = 0; k < rungs_.size(); ++k)
    if (serves(k)) return k;
  return std::nullopt;
}

bool Solver::Work::climb_one(std::size_t k, System& system, const SolveOptions& how, Climb& climb,
                             SolveReport& report) {
  const Rung& rung = rungs_[k];
  const Stopwatch watch;
  Attempt& now = report.attempts.emplace_back();
  now.method = rung.method;
  now.preconditioner = rung.preconditioner ? word_of(*rung.preconditioner) : std::string(kAuto);
  now.scaling = to_string(rung.scaling);
  now.why = rung.why;
  Ending ending;
  double loop_seconds = 0;
  try {
    activate(k);
    change_kernel(how.solves_after + 1);
    active_->may_stand_still = rung.may_stand_still && rungs_.size() > 1 && !climb.to_the_end;
    const double set_up_before = active_->set_up_seconds();
    const Stopwatch of_loop;
    ending = run(system, how);
    loop_seconds = of_loop.seconds() - (active_->set_up_seconds() - set_up_before);
  } catch (const Error& error) {
    if (rungs_.size() == 1 || error.code() == ExitCode::internal ||
        error.code() == ExitCode::resource)
      throw;
    climb.fates[k] = Climb::Fate::failed;
    climb.error = error;
    now.verdict = error.what();
    now.seconds = watch.seconds();
    return false;
  }
  climb.ran = true;
  const auto [relative_residual, by] = ending.judgement;
  const bool converged = by <= kWithRounding && (ending.claims || ending.stagnated);
  now.preconditioner = word_of(active_->loop->preconditioner());
  now.iterations = ending.iterations;
  now.relative_residual = relative_residual;
  now.seconds = watch.seconds();
  now.verdict = converged ? "converged" : words_of(ending, rung.method);
  climb.indefinite |= ending.reason == Reason::indefinite_matrix ||
                      ending.reason == Reason::indefinite_preconditioner;
  climb.fates[k] = ending.stood_still ? Climb::Fate::left : Climb::Fate::failed;
  if (converged || !climb.keeps_x || std::isnan(climb.best) || by < climb.best) {
    climb.best = by;
    climb.keeps_x = !converged;
    climb.x = converged ? Vector() : system.x.copy();
    climb.status = converged                     ? Status::converged
                   : ending.by_user              ? Status::interrupted
                   : is_breakdown(ending.reason) ? Status::breakdown
                                                 : Status::not_converged;
    report.iterations = ending.iterations;
    report.history = std::move(ending.history);
    report.relative_residual = relative_residual;
    report.method = now.method;
    report.preconditioner = now.preconditioner;
    report.scaling = now.scaling;
    report.text = now.verdict;
  }
  if (ending.by_user) climb.status = Status::interrupted;
  if (converged) begins_at_ = k;
  if (converged) active_->has_solved = true;
  if (converged && kernel_search_)
    kernel_search_->solve_ends(
        solvers::method_named(rung.method)->info.products * ending.iterations, loop_seconds);
  if (!converged && !ending.by_user) {
    if (relative_residual < kGoodGuess)
      system.x.take(climb.x);
    else
      system.x.set_zero();
    system.has_guess = relative_residual < kGoodGuess;
  }
  return converged || ending.by_user;
}

SolveReport Solver::Work::climb(System& system, const SolveOptions& how) {
  SolveReport report;
  Climb climb(rungs_.size());
  const Vector guess = system.has_guess ? system.x.copy() : Vector();
  const double of_guess = system.has_guess ? judge(system, how).relative_residual : 1;
  for (;;) {
    const auto k = next(climb);
    if (k) {
      if (climb_one(*k, system, how, climb, report)) break;
      continue;
    }
    const bool any_left = std::ranges::find(climb.fates, Climb::Fate::left) != climb.fates.end();
    if (climb.to_the_end || !any_left) break;
    climb.to_the_end = true;
  }
  if (!climb.ran) throw Error(*climb.error);
  if (climb.keeps_x) system.x.take(climb.x);
  report.status = climb.status;
  if (!report.converged() && !(report.relative_residual <= of_guess)) {
    if (guess.empty())
      system.x.set_zero();
    else
      system.x.take(guess);
    report.notes.push_back(fmt::format(
        "x is the initial guess, whose residual is {:.2g} of ||b||; that of the solve was {:.2g}",
        of_guess, report.relative_residual));
    report.relative_residual = of_guess;
  }
  if (active_ && active_->search) {
    take_set_up_seconds();
    for (std::string& note : active_->search->take_notes()) report.notes.push_back(std::move(note));
  }
  return report;
}

std::string words_of_success(const SolveReport& report) {
  return fmt::format("converged after {} iterations: ||b - A x|| is {:.2g} of ||b||",
                     report.iterations, report.relative_residual);
}

// The caller's x may have left the range of double, or have lost digits below its normal numbers.
void Solver::Work::give(System& system, const SolveOptions& how, SolveReport& report) {
  system.give_solution();
  if (!system.changes_x()) return;
  const Judgement rounded = judge(system, how);
  report.relative_residual = rounded.relative_residual;
  if (!report.converged() || rounded.holds()) return;
  report.status = Status::breakdown;
  report.text = std::isfinite(rounded.relative_residual)
                    ? "the solution is below the smallest normal double; scale the system"
                    : "the solution exceeds the largest double; scale the system";
}

void Solver::Work::check(const Numbers& b, const Vector& x, std::int64_t width,
                         const SolveOptions& how) const {
  if (ranks_.many()) {
    const auto& [rtol, atol, in_every_row, max_iterations, guess, drop_worse_guess, solves_after,
                 on_iteration, stop] = how;  // all of them, but for stop
    ranks_.require_same(fmt::format(
        "rtol {}, atol {}, in_every_row {}, max_iterations {}, guess {}, drop_worse_guess {}, "
        "solves_after {}, on_iteration {}, width {}",
        rtol, atol, in_every_row, max_iterations, guess, drop_worse_guess, solves_after,
        on_iteration != nullptr, width));
  }
  ranks_.checked([&] {
    if (width < 0) fail(ExitCode::usage, "width cannot be {}", width);
    require_size(b.size(), rows() * width, "b");
    require_size(x.size(), rows() * width, "x");
    if (!(how.rtol >= 0) || !(how.atol >= 0) || (how.rtol == 0 && how.atol == 0))
      fail(ExitCode::usage, "rtol is {} and atol {}; neither may be negative, and one is above 0",
           how.rtol, how.atol);
    if (how.max_iterations < 0)
      fail(ExitCode::usage, "max_iterations cannot be {}", how.max_iterations);
  });
}

SolveReport Solver::Work::solve(const Numbers& b, Vector x, const SolveOptions& how) {
  const Stopwatch watch;
  check(b, x, 1, how);
  const double set_up_before = facts_.set_up_seconds;
  System system(ranks_, b, x.part(0, x.size()), how.guess, scale_, gpu_.get());
  SolveReport report;
  if (!(system.unit > 0)) {
    x.set_zero();
    report.status = Status::converged;
    report.text = "b is 0, and so is x";
    report.method = rungs_[begins_at_].method;
    report.history = {0};
    return report;
  }
  report = climb(system, how);
  give(system, how, report);
  report.set_up_seconds = facts_.set_up_seconds - set_up_before;
  report.seconds = watch.seconds();
  if (report.converged())
    report.text = words_of_success(report);
  else
    report.text = fmt::format("not converged: {}; ||b - A x|| is {:.2g} of ||b||{}", report.text,
                              report.relative_residual, what_to_do(report, how));
  count(report);
  return report;
}

std::string_view Solver::Work::what_to_do(const SolveReport& report,
                                          const SolveOptions& how) const {
  if (report.status == Status::interrupted) return "";
  if (report.iterations >= how.max_iterations) return "; more iterations may be allowed";
  return rungs_.size() > 1 ? "; every method of auto was tried; complete factors may solve it"
                           : "; method auto tries others";
}

void Solver::Work::take_set_up_seconds() {
  facts_.set_up_seconds += active_->search->set_up_seconds() - active_->counted_seconds;
  active_->counted_seconds = active_->search->set_up_seconds();
}

void Solver::Work::count(const SolveReport& report) {
  ++facts_.solves;
  facts_.iterations += report.iterations;
  facts_.solve_seconds += report.seconds;
}

}  // namespace trireme::api
