// SPDX-License-Identifier: BSD-3-Clause
// One rung: its loop, which the search for a preconditioner may leave and which goes on then, and
// again with a part of the tolerance where b - A x is larger than the loop says.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/work.hpp"
#include "planning/acceptance.hpp"
#include "planning/standing_still.hpp"

namespace trireme::api {

using solvers::Reason;

std::string words_of(const Ending& ending, const std::string& method) {
  if (ending.by_user) return "stopped by the caller";
  if (ending.stood_still) return "left: the residual stood still";
  switch (ending.reason) {
    case Reason::too_many_iterations:
      return fmt::format("the maximum of {} iterations was reached", ending.iterations);
    case Reason::diverged:
      return fmt::format("the residual of {} grew by {:g}", method, kDivergenceBound);
    case Reason::breakdown:
      return ending.stagnated ? "the residual is as small as rounding allows"
                              : fmt::format("{} broke down", method);
    case Reason::indefinite_preconditioner:
      return fmt::format("the preconditioner is not positive definite, which {} needs", method);
    case Reason::indefinite_matrix:
      return fmt::format("the matrix is not definite, which {} needs", method);
    case Reason::not_finite:
      return "numbers left the range of double";
    default:
      return "the residual of the recurrence is not that of x";
  }
}

bool is_breakdown(Reason reason) {
  return reason == Reason::breakdown || reason == Reason::indefinite_preconditioner ||
         reason == Reason::indefinite_matrix || reason == Reason::not_finite;
}

Ending Solver::Work::run_loop(const Numbers& b, Vector& x, bool guess, double unit,
                              const solvers::Tolerances& rule, const ShowIterate& shown,
                              const SolveOptions& how) {
  Loop& loop = *active_->loop;
  PreconditionerSearch* const search = active_->search.get();
  const bool begun_from_guess = guess;
  const Vector begun = search && guess ? x.copy() : Vector();
  Ending ending;
  std::int64_t before = 0;
  bool changes = false, stops = false, stands_still = false;  // as this rank asks
  solvers::Tolerances left = rule;
  BestNorms best;
  if (search) search->solve_begins(how.solves_after);
  const auto solution_of = [&](const solvers::Iterate& iterate) {
    return [&, iterate](std::span<double> out) {
      Array<double> y(iterate.x.begin(), iterate.x.end());
      for (std::size_t i = 0; i < iterate.direction.size(); ++i)
        y[i] += iterate.step * iterate.direction[i];
      shown(std::move(y), out);
    };
  };
  solvers::IterationObserver observer;
  observer.iteration = [&](const solvers::State& state, const solvers::Iterate& iterate) {
    const bool repeats = before > 0 && state.iterations == 0;  // after a change
    if (!repeats) {
      ending.history.push_back(relative(state.norm, unit));
      best.add(state.norm);
      if (search) search->iteration(state.norm, state.target);
      if (how.on_iteration && !ending.by_user) {
        Iteration now{.number = before + state.iterations,
                      .relative_norm = relative(state.norm, unit)};
        // A rank without rows does not see whether the loop has an x.
        if (!ranks_.any(iterate.x.size() != b.size())) now.copy_solution = solution_of(iterate);
        ending.by_user = ranks_.any(how.on_iteration(now));
      }
    }
    return ending.by_user ? Reason::interrupted : Reason::running;
  };
  observer.stop = [&] {
    stops = stops || ending.by_user || (how.stop && how.stop());
    stands_still = stands_still || (!stops && active_->may_stand_still && best.stand_still());
    // The loop may ask more than once before it ends, which it does for one rank that asks.
    changes = changes || (!stops && !stands_still && search && search->due());
    return stops || stands_still || changes;
  };
  for (;;) {
    changes = stands_still = false;
    const solvers::SolveResult result = loop.solve(b, x, !guess, left, observer);
    ending.reason = result.reason;
    ending.stagnated = result.stagnated;
    ending.iterations = before + result.iterations;
    ending.claims = result.reason == Reason::rtol || result.reason == Reason::atol;
    ending.by_user = ranks_.any(stops || ending.by_user);
    ending.stood_still = !ending.by_user && ranks_.any(stands_still);
    changes = !ending.by_user && !ending.stood_still && ranks_.any(changes);
    if (result.reason == Reason::interrupted && changes) {
      search->change();
    } else if (!search || search->solve_ends(ending.claims, is_breakdown(result.reason))) {
      return ending;
    } else {
      guess = begun_from_guess;
      if (guess)
        x.take(begun);
      else
        x.set_zero();
      ending.history.clear();
      before = 0;
      left = rule;
      continue;
    }
    before = ending.iterations;
    left.max_iterations = std::max<std::int64_t>(rule.max_iterations - before, 0);
    guess = true;
  }
}

solvers::Tolerances Solver::Work::rule(const SolveOptions& how, double atol, double part) const {
  return {.rtol = how.rtol * part,
          .atol = atol * part,
          .divtol = kDivergenceBound,
          .max_iterations = how.max_iterations,
          .rows = how.in_every_row ? active_->loop->row_test() : solvers::RowTest::none};
}

Ending Solver::Work::run(System& system, const SolveOptions& how) {
  const auto& scaling = active_->scaling;
  Ending all;
  double part = 1;
  for (int times = 0; times < kMostTimesTighter; ++times) {
    std::optional<LoopVectors> scaled;
    if (scaling) scaled.emplace(ranks_, system, *scaling);
    const Numbers b = scaled ? Numbers(scaled->b) : system.b;
    Vector& x = scaled ? scaled->x : system.x;
    const double unit = scaled ? scaled->unit : system.unit;
    solvers::Tolerances rule = this->rule(how, system.atol(how) * unit / system.unit, part);
    rule.max_iterations -= all.iterations;
    rule.drops_worse_guess = times == 0 && how.drop_worse_guess;
    const auto shown = [&](Array<double>&& of_loop, std::span<double> out) {
      Vector to(out);
      if (scaled)
        scaled->give_solution(std::span<const double>(of_loop), *scaling, to);
      else
        to.take(std::span<const double>(of_loop));
      to.take(to, system.of_x, false);
    };
    Ending ending = run_loop(b, x, system.has_guess, unit, rule, shown, how);
    if (scaled) scaled->give_solution(scaled->x, *scaling, system.x);
    system.has_guess = true;
    ending.iterations += all.iterations;
    if (times > 0) ending.history.erase(ending.history.begin());
    all.history.insert(all.history.end(), ending.history.begin(), ending.history.end());
    ending.history = std::move(all.history);
    all = std::move(ending);
    all.judgement = judge(system, how);
    const auto tighter = tighter_part(part, all.judgement.excess);
    if (!all.claims || !tighter) break;
    part = *tighter;
  }
  return all;
}

bool Judgement::holds() const { return excess <= kWithRounding; }

Judgement Solver::Work::judge(const System& system, const SolveOptions& how) {
  const Residual of = system.b.gpu()
                          ? gpu_->residual(*matrix_, system.b.on_gpu(), system.x.on_gpu())
                          : residual_.of(ranks_, *matrix_, system.b.on_host(), system.x.on_host());
  return {.relative_residual = relative(of.norm, system.unit),
          .excess = excess_of(of, system.target(how), system.unit,
                              how.in_every_row ? solvers::RowTest::both : solvers::RowTest::none)};
}

}  // namespace trireme::api
