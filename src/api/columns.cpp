// SPDX-License-Identifier: BSD-3-Clause
// Many right-hand sides: together, where that pays, by a loop that has solved one by itself.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/caller_matrix.hpp"
#include "api/work.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "planning/acceptance.hpp"

namespace trireme::api {
namespace {

constexpr std::int64_t kWidestBlock = 32;
constexpr std::string_view kStopped = "not converged: stopped by the caller";

}  // namespace

void Solver::Work::solve_block(const Numbers& b, Vector& x, std::int64_t first, std::int64_t width,
                               const SolveOptions& how, std::vector<SolveReport>& reports) {
  const std::int64_t n = rows();
  const Stopwatch watch;
  const auto& scaling = active_->scaling;
  std::vector<System> systems;
  std::vector<LoopVectors> scaled;
  std::vector<double> units, atols;
  bool guess = false;
  bool as_they_are = !scaling;  // the loop works on the caller's arrays
  for (std::int64_t j = 0; j < width; ++j) {
    const Numbers of_b = b.part((first + j) * n, n);
    Vector of_x = x.part((first + j) * n, n);
    const double* const callers_x = of_x.data();
    System& system =
        systems.emplace_back(ranks_, of_b, std::move(of_x), how.guess, scale_, gpu_.get());
    as_they_are = as_they_are && system.b.data() == of_b.data() && system.x.data() == callers_x;
    if (system.has_guess && how.drop_worse_guess && judge(system, how).relative_residual > 1)
      system.has_guess = false;
    guess = guess || system.has_guess;
    if (scaling) scaled.emplace_back(ranks_, system, *scaling);
    units.push_back(scaling ? scaled.back().unit : system.unit);
    atols.push_back(system.atol(how) * units.back() / system.unit);
  }
  if (guess)
    for (System& system : systems)
      if (!system.has_guess) system.x.set_zero();
  Vector own_b, own_x;
  if (!as_they_are) {
    own_b = Vector(static_cast<std::size_t>(n * width), gpu_.get());
    own_x = Vector(own_b.size(), gpu_.get());
    for (std::int64_t j = 0; j < width; ++j) {
      own_b.part(j * n, n).take(scaling ? Numbers(scaled[j].b) : systems[j].b);
      if (guess) own_x.part(j * n, n).take(scaling ? scaled[j].x : systems[j].x);
    }
  }
  const Numbers all_b = as_they_are ? b.part(first * n, width * n) : Numbers(own_b);
  Vector all_x = as_they_are ? x.part(first * n, width * n) : own_x.part(0, own_x.size());
  std::vector<solvers::IterationObserver> observers(static_cast<std::size_t>(width));
  for (std::int64_t j = 0; j < width; ++j) {
    observers[j].iteration = [&, j](const solvers::State& state, const solvers::Iterate&) {
      reports[first + j].history.push_back(relative(state.norm, units[j]));
      return solvers::Reason::running;
    };
    observers[j].stop = how.stop;
  }
  const std::vector<solvers::SolveResult> results =
      active_->loop->solve_columns(all_b, all_x, width, !guess, rule(how, 0, 1), observers, atols);
  const double seconds = watch.seconds() / static_cast<double>(width);
  for (std::int64_t j = 0; j < width; ++j) {
    System& system = systems[j];
    if (scaling)
      scaled[j].give_solution(all_x.part(j * n, n), *scaling, system.x);
    else if (!as_they_are)
      system.x.take(all_x.part(j * n, n));
    SolveReport& report = reports[first + j];
    const bool stopped = results[j].reason == solvers::Reason::interrupted;
    const Judgement judgement = judge(system, how);
    report.relative_residual = judgement.relative_residual;
    report.status = judgement.holds() ? Status::converged
                    : stopped         ? Status::interrupted
                                      : Status::not_converged;
    give(system, how, report);
    report.iterations = results[j].iterations;
    report.seconds = seconds;
    report.method = rungs_[active_->rung].method;
    report.preconditioner = word_of(active_->loop->preconditioner());
    report.scaling = to_string(rungs_[active_->rung].scaling);
    if (report.status == Status::interrupted) report.text = kStopped;
    if (!report.converged()) continue;
    report.text = words_of_success(report);
    count(report);
  }
}

void Solver::Work::change_between_solves(std::int64_t solves_ahead) {
  if (!active_ || !active_->search) return;
  active_->search->between_solves(solves_ahead);
  take_set_up_seconds();
}

std::vector<SolveReport> Solver::Work::solve_many(const Numbers& b, Vector x, std::int64_t width,
                                                  const SolveOptions& how) {
  check(b, x, width, how);
  const std::int64_t n = rows();
  require_finite(ranks_, b, "b");
  if (how.guess) require_finite(ranks_, x, "x");
  SolveReport not_reached;
  not_reached.status = Status::interrupted;
  not_reached.text = kStopped;
  std::vector<SolveReport> reports(static_cast<std::size_t>(width), not_reached);
  const auto alone = [&](std::int64_t j, bool guess) {
    SolveOptions of_one = how;
    of_one.guess = guess;
    of_one.solves_after = how.solves_after + width - 1 - j;
    if (j > 0) of_one.on_iteration = nullptr;
    reports[j] = solve(b.part(j * n, n), x.part(j * n, n), of_one);
  };
  const bool has_rows = matrix_->global_rows() > 0;
  bool experienced = has_rows && active_ && active_->has_solved && !how.on_iteration;
  if (experienced) change_between_solves(how.solves_after + width);
  std::int64_t j = 0;
  while (j < width) {
    std::int64_t last = j;
    const bool together =
        experienced &&
        ranks_.first(active_->loop->together_pays(std::min(width - j, kWidestBlock)));
    while (together && last < width && last - j < kWidestBlock &&
           !is_zero(ranks_, b.part(last * n, n)))
      ++last;
    if (last - j < 2) {
      alone(j, how.guess);
      if (reports[j].status == Status::interrupted) break;
      // What the first one has shown may make a set-up pay for the others.
      if (j == 0 && width > 1) change_between_solves(how.solves_after + width - 1);
      experienced = has_rows && active_ && reports[j].converged();
      ++j;
      continue;
    }
    solve_block(b, x, j, last - j, how, reports);
    for (std::int64_t c = j; c < last; ++c) {
      if (reports[c].status == Status::interrupted) return reports;
      if (!reports[c].converged()) alone(c, reports[c].relative_residual < kGoodGuess);
    }
    j = last;
  }
  return reports;
}

}  // namespace trireme::api
