// SPDX-License-Identifier: BSD-3-Clause
// The steps into which the algorithm of a cycle is taken apart, for a GPU.
//
// A step is one sweep over the rows of a level. A product with a sparse matrix carries the update
// of the vectors with it, so that the product itself is never stored:
//
//   product        to = M x,  kept = g W (M x)              kept: the next level begins with it
//   residual       to = b - A x
//   correct        to += P x
//   smooth         d = f last + g W (b - A x),  to = x + d  with a diagonal W
//   smooth_blocks  d = f last + g W (b - q),    to += d     with dense blocks; q is in x
//   start          to = g W b                               the first step of a smoothing from 0
//   take           kept = r,  to = g W r                    r: the caller's residual
//   give           z = x                                    z: the caller's result
//   solve          to = A^-1 b                              by the dense inverse
//
// A step `smooth` may write z in place of `to`.
//
// The vectors between `take` and `give` are FP32 or FP64 (Number). FP32 numbers are r times a power
// of two that brings the largest number of r near 1, so that their range suffices for every r; a
// power of two changes no bit of the result.
//
// Values moved per row of `smooth`, beside the matrix: x, b, W and `to` once, and d where it is
// read or written. `to` is another vector than x, because rows read x of other rows.
#pragma once

#include <cstdint>

#include "multigrid/cycle/smoothing.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

enum class StepKind : std::int32_t {
  product,
  residual,
  correct,
  smooth,
  smooth_blocks,
  start,
  take,
  give,
  solve
};

// The matrix of a step: A of its level, P to its level from the next coarser one, or P^T.
enum class StepMatrix : std::int32_t { none, a, prolongator, restriction };

// What the sweep of a step reads and writes, with addresses where it runs.
template <class Number>
struct StepDataOf {
  StepKind kind = StepKind::product;
  bool ends = false;  // the step writes z
  std::int64_t rows = 0;
  std::int64_t block_size = 1;  // of W
  Number f = 0, g = 0;
  const Number* x = nullptr;
  const Number* b = nullptr;
  const Number* w = nullptr;     // null in `take`: `to` is not wanted
  const Number* last = nullptr;  // null: there is no earlier direction
  Number* d = nullptr;           // null: no later step reads the direction
  Number* to = nullptr;
  Number* kept = nullptr;
  const double* r = nullptr;  // of the caller
  double* z = nullptr;        // of the caller
};
using StepData = StepDataOf<double>;

// What row i reads beside its sum.
template <class Number>
struct StepRow {
  Number x = 0, b = 0, w = 0, last = 0;
};
// What row i writes.
template <class Number>
struct StepResult {
  Number to = 0, d = 0, kept = 0;
};

// Ends a row of the kinds with a sparse matrix, whose product is `sum`.
template <StepKind kind, class Number>
TRIREME_HD StepResult<Number> end_row(const StepDataOf<Number>& s, const StepRow<Number>& row,
                                      Number sum) {
  if constexpr (kind == StepKind::product) return {sum, 0, s.g * (row.w * sum)};
  if constexpr (kind == StepKind::residual) return {row.b - sum, 0, 0};
  if constexpr (kind == StepKind::correct) return {row.x + sum, 0, 0};
  if constexpr (kind == StepKind::smooth) {
    const Number d = s.f * row.last + s.g * (row.w * (row.b - sum));
    return {row.x + d, d, 0};
  }
}

// A row of `start`, or of `smooth_blocks`.
template <class Number>
TRIREME_HD void run_smoother_row(const StepDataOf<Number>& s, std::int64_t i) {
  const std::int64_t first = i - i % s.block_size;
  const Number* const w = s.w + i * s.block_size;
  Number sum = 0;
  if (s.kind == StepKind::start) {
    for (std::int64_t k = 0; k < s.block_size; ++k) sum += w[k] * s.b[first + k];
    s.to[i] = s.g * sum;
    return;
  }
  for (std::int64_t k = 0; k < s.block_size; ++k) sum += w[k] * (s.b[first + k] - s.x[first + k]);
  Number d = s.g * sum;
  if (s.last) d += s.f * s.last[i];
  if (s.d) s.d[i] = d;
  s.to[i] = s.to[i] + d;
}

// Row i of `take`, where r is multiplied by `scale`.
template <class Number>
TRIREME_HD void take_row(const StepDataOf<Number>& s, std::int64_t i, double scale) {
  const auto r = static_cast<Number>(s.r[i] * scale);
  s.kept[i] = r;
  if (s.w) s.to[i] = s.g * (s.w[i] * r);
}

}  // namespace trireme::multigrid
