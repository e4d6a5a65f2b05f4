// SPDX-License-Identifier: BSD-3-Clause
// The steps into which the text of a cycle is taken apart, for a GPU.
//
// A step is one sweep over the rows of a level. A product with a sparse matrix carries the update of
// the vectors with it, so that the product itself is never stored:
//
//   product        to = M x
//   residual       to = b - A x
//   correct        to += P x
//   smooth         d = f last + g W (b - A x),  to = x + d      with a diagonal W
//   smooth_blocks  d = f last + g W (b - q),    to += d         with dense blocks; q is in x
//   start          to = g W b                                   the first step of a smoothing from 0
//   solve          to = A^-1 b                                  by the dense inverse
//
// `residual` and `smooth` may begin from zero: x is then start W b, which each product computes
// from W and b where it reads x, so that the first step of a smoothing needs no sweep of its own.
//
// Values moved per row of `smooth`, beside the matrix: x, b, W and `to` once, and d where it is read or
// written; from zero b, W and `to`. `to` is another vector than x, because rows read x of other rows.
#pragma once

#include <cstdint>

#include "multigrid/smoothing.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

enum class StepKind : std::int32_t {
  product,
  residual,
  correct,
  smooth,
  smooth_blocks,
  start,
  solve
};

// The matrix of a step: A of its level, P to its level from the next coarser one, or P^T.
enum class StepMatrix : std::int32_t { none, a, prolongator, restriction };

// What the sweep of a step reads and writes, with addresses where it runs.
struct StepData {
  StepKind kind = StepKind::product;
  std::int32_t from_zero = 0;
  std::int64_t rows = 0;
  std::int64_t block_size = 1;  // of W
  double f = 0, g = 0, start = 0;
  const double* x = nullptr;
  const double* b = nullptr;
  const double* w = nullptr;
  const double* last = nullptr;  // null: there is no earlier direction
  double* d = nullptr;           // null: no later step reads the direction
  double* to = nullptr;
  double* kept = nullptr;  // of a residual from zero: takes x
};

// The loads of vectors that other rows of the same launch do not write.
struct PlainLoad {
  TRIREME_HD static double at(const double* from, std::int64_t i) { return from[i]; }
};

// The numbers that row i needs beside its sum. Loading them before the sum lets both be in flight at
// the same time.
struct StepRow {
  double x = 0, b = 0, w = 0, last = 0;
};

// x_i of the product of a step.
template <bool from_zero, class Load>
TRIREME_HD double step_x(const StepData& s, std::int64_t i) {
  if constexpr (from_zero)
    return s.start * (s.w[i] * Load::at(s.b, i));
  else
    return Load::at(s.x, i);
}

template <StepKind kind, bool from_zero, class Load>
TRIREME_HD StepRow load_step_row(const StepData& s, std::int64_t i) {
  StepRow row;
  if constexpr (kind == StepKind::residual || kind == StepKind::smooth) row.b = Load::at(s.b, i);
  if constexpr (kind == StepKind::correct) row.x = Load::at(s.to, i);
  if constexpr (kind == StepKind::smooth) {
    row.w = s.w[i];
    if (s.last) row.last = Load::at(s.last, i);
  }
  if constexpr (from_zero)
    row.x = s.start * (s.w[i] * row.b);
  else if constexpr (kind == StepKind::smooth)
    row.x = Load::at(s.x, i);
  return row;
}

// Ends row i, whose product is `sum`.
template <StepKind kind, bool from_zero>
TRIREME_HD void finish_step_row(const StepData& s, std::int64_t i, const StepRow& row, double sum) {
  if constexpr (kind == StepKind::product) s.to[i] = sum;
  if constexpr (kind == StepKind::residual) {
    s.to[i] = row.b - sum;
    if constexpr (from_zero) s.kept[i] = row.x;
  }
  if constexpr (kind == StepKind::correct) s.to[i] = row.x + sum;
  if constexpr (kind == StepKind::smooth) {
    // From zero, the direction before this one is x itself.
    double d = s.g * (row.w * (row.b - sum));
    if constexpr (from_zero)
      d += s.f * row.x;
    else if (s.last)
      d += s.f * row.last;
    if (s.d) s.d[i] = d;
    s.to[i] = row.x + d;
  }
}

// A row of the kinds without a sparse matrix, but for `solve`.
template <class Load>
TRIREME_HD void run_step_row(const StepData& s, std::int64_t i) {
  const std::int64_t first = i - i % s.block_size;
  const double* const w = s.w + i * s.block_size;
  double sum = 0;
  if (s.kind == StepKind::start) {
    for (std::int64_t k = 0; k < s.block_size; ++k) sum += w[k] * Load::at(s.b, first + k);
    s.to[i] = s.g * sum;
    return;
  }
  for (std::int64_t k = 0; k < s.block_size; ++k)
    sum += w[k] * (Load::at(s.b, first + k) - Load::at(s.x, first + k));
  double d = s.g * sum;
  if (s.last) d += s.f * Load::at(s.last, i);
  if (s.d) s.d[i] = d;
  s.to[i] = Load::at(s.to, i) + d;
}

}  // namespace trireme::multigrid
