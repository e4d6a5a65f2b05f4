// SPDX-License-Identifier: BSD-3-Clause
// One multigrid cycle, as an algorithm for an executor. The host runs it, and a host that records a
// CUDA graph can run it too.
//
// With Chebyshev of degree 2 and a V-cycle, a level costs four products with A and one each with P
// and P^T.
#pragma once

#include "multigrid/cycle/smoothing.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// What the algorithm knows of a level. The vectors have the rows of this process.
struct CycleLevel {
  enum class Kind { smoothed, solved };
  Kind kind = Kind::smoothed;
  Smoothing smoothing;
  const double* inverse = nullptr;  // W, a diagonal where block_size is 1
  std::int64_t block_size = 1;
  const double* b = nullptr;
  double* x = nullptr;
  double* d = nullptr;
  double* q = nullptr;
};

// r = b - q, in the place of q.
struct Residual {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const double* b;
  double* q;

  struct Row {
    double r;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {b[i] - q[i]}; }
  TRIREME_HD void update(Row&, const solvers::State&, double*) const {}
  TRIREME_HD void store(std::int64_t i, const Row& row) const { q[i] = row.r; }
};

template <class LevelExec>
void smooth(LevelExec&& e, const CycleLevel& level, bool from_zero) {
  const SmoothedVectors vectors{level.b, level.x, level.d, level.q};
  if (level.block_size > 1)
    smooth(e, level.smoothing, InverseBlocks{level.inverse, level.block_size}, vectors, from_zero);
  else
    smooth(e, level.smoothing, InverseDiagonal{level.inverse}, vectors, from_zero);
}

// Improves x of level l for A x = b, where x is not read if `from_zero`. The executor offers:
//   levels(), level(l)    their number, and the CycleLevel of one
//   on(l)                 an executor of product(x, q) and pass(p) on the level
//   restrict_from(l, r)   b of level l + 1 = P^T r
//   correct(l)            x of level l += P x of level l + 1
//   solve(l)              x = A^-1 b on a level of the kind `solved`
template <class Exec>
void cycle(Exec& e, CycleKind kind, int l, bool from_zero) {
  const CycleLevel& level = e.level(l);
  if (level.kind == CycleLevel::Kind::solved) return e.solve(l);
  smooth(e.on(l), level, from_zero);
  if (l + 1 == e.levels()) return;
  e.on(l).product(level.x, level.q);
  e.on(l).pass(Residual{level.b, level.q});
  e.restrict_from(l, level.q);
  cycle(e, kind, l + 1, true);
  if (kind == CycleKind::w && e.level(l + 1).kind != CycleLevel::Kind::solved)
    cycle(e, kind, l + 1, false);
  e.correct(l);
  smooth(e.on(l), level, false);
}

}  // namespace trireme::multigrid
