// SPDX-License-Identifier: BSD-3-Clause
// A solve that is stopped again and again, and goes on each time in a solver that knows only x and
// what the one before has left.
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

// `make()` returns a HostSolver or a CudaSolver, a new one for each piece. The history is that of
// all pieces.
template <class MakeSolver>
SolvedInPieces solve_in_pieces(const MakeSolver& make, std::span<const double> b, Options options,
                               std::int64_t piece, StoppedBy by = StoppedBy::limit) {
  SolvedInPieces all;
  all.x.assign(b.size(), 0.0);
  solvers::StoppedSolve stopped;
  const std::int64_t most = options.rule.max_iterations;
  for (bool first = true;; first = false) {
    const auto solver = make();
    ++all.pieces;
    if (!first) solver->go_on(stopped);
    const std::int64_t begun_at = stopped.iterations;
    solvers::IterationObserver observer;
    std::int64_t seen = begun_at;
    observer.iteration = [&](const solvers::State& s, const solvers::Iterate&) {
      if (!first && seen == begun_at && s.iterations > seen) ++seen;  // told before, by the last
      EXPECT_EQ(s.iterations, seen) << "an iteration is missing, or told twice";
      if (first || s.iterations > begun_at) all.history.push_back(s.norm);
      ++seen;
      return solvers::Reason::running;
    };
    solvers::Tolerances rule = options.rule;
    if (by == StoppedBy::limit) rule.max_iterations = std::min(begun_at + piece, most);
    if (by == StoppedBy::observer) observer.stop = [&] { return seen > begun_at + piece; };
    all.outcome = solver->solve({b, all.x, first}, rule, observer);
    const bool goes_on = all.outcome.reason == solvers::Reason::interrupted ||
                         (all.outcome.reason == solvers::Reason::too_many_iterations &&
                          all.outcome.iterations < most);
    if (!goes_on) return all;
    stopped = solver->stopped();
    EXPECT_EQ(stopped.iterations, all.outcome.iterations);
    if (stopped.iterations <= begun_at) {
      ADD_FAILURE() << "no iteration was done";
      return all;
    }
  }
}

}  // namespace trireme::test
