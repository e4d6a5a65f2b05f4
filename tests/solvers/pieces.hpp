// SPDX-License-Identifier: BSD-3-Clause
// A solve that is stopped several times. Each time it goes on in a new solver, which gets only x
// and the StoppedSolve of the solver before.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "solvers/solves.hpp"

namespace trireme::test {

struct SolvedInPieces : Solved {
  int pieces = 0;
};

enum class StoppedBy { limit, observer };

// Stops after each `piece` iterations. `make()` returns a new HostSolver or CudaSolver for each
// piece. The history of the result is that of all pieces. With `new_space`, each piece begins a new
// Krylov space, as after a change of the preconditioner.
template <class MakeSolver>
SolvedInPieces solve_in_pieces(const MakeSolver& make, std::span<const double> b, Options options,
                               std::int64_t piece, StoppedBy by = StoppedBy::limit,
                               bool new_space = false) {
  SolvedInPieces all;
  all.x.assign(b.size(), 0.0);
  solvers::StoppedSolve stopped;
  const std::int64_t limit = options.rule.max_iterations;
  for (bool first = true;; first = false) {
    const auto solver = make();
    ++all.pieces;
    if (!first) solver->go_on(stopped);
    const std::int64_t begun_at = stopped.iterations;
    solvers::IterationObserver observer;
    std::int64_t seen = begun_at;
    observer.iteration = [&](const solvers::State& s, const solvers::Iterate&) {
      // The solver before may have reported the first iteration of this piece already.
      if (!first && seen == begun_at && s.iterations > seen) ++seen;
      EXPECT_EQ(s.iterations, seen) << "an iteration is missing, or was reported twice";
      if (first || s.iterations > begun_at) all.history.push_back(s.norm);
      ++seen;
      return solvers::Reason::running;
    };
    solvers::Tolerances rule = options.rule;
    if (by == StoppedBy::limit) rule.max_iterations = std::min(begun_at + piece, limit);
    if (by == StoppedBy::observer) observer.stop = [&] { return seen > begun_at + piece; };
    all.outcome = solver->solve({b, all.x, first}, rule, observer);
    const bool goes_on = all.outcome.reason == solvers::Reason::interrupted ||
                         (all.outcome.reason == solvers::Reason::too_many_iterations &&
                          all.outcome.iterations < limit);
    if (!goes_on) return all;
    stopped = solver->stopped();
    EXPECT_EQ(stopped.iterations, all.outcome.iterations);
    stopped.new_space = new_space;
    if (new_space) stopped.directions.clear();
    if (stopped.iterations <= begun_at) {
      ADD_FAILURE() << "no iteration was done";
      return all;
    }
  }
}

}  // namespace trireme::test
