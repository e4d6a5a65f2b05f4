// SPDX-License-Identifier: BSD-3-Clause
// A cycle as a list of steps. The algorithm of cycle.hpp runs once, on an executor that writes down
// what it is asked for and joins each product with the pass that follows it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "multigrid/cycle/cycle.hpp"
#include "multigrid/cycle/cycle_step.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// The vectors of a level. A smoothing goes from one of x and twin to the other.
enum class LevelVector : std::int32_t { none, b, x, twin, d, q };

struct VectorRef {
  std::int32_t level = 0;
  LevelVector vector = LevelVector::none;
  bool operator==(const VectorRef&) const = default;
};

// A step without addresses. The members are those of StepDataOf.
struct CycleStep {
  StepKind kind = StepKind::product;
  StepMatrix matrix = StepMatrix::none;
  std::int32_t level = 0;    // of the matrix; transfers belong to the finer of their levels
  std::int32_t w_level = 0;  // of W: that of `to`
  double f = 0, g = 0;
  VectorRef x{}, b{}, last{}, d{}, to{}, kept{};
  bool ends = false;  // writes the caller's result
};

// What the recording needs to know of a level.
struct ProgramLevel {
  CycleLevel::Kind kind = CycleLevel::Kind::smoothed;
  Smoothing smoothing;
  std::int64_t block_size = 1;  // of W
  // Whether each row of P^T r is complete when its product is, so that the product may also begin
  // the smoothing of the next level. Not so where other ranks add to it.
  bool restricts_alone = true;
};

// The steps of one cycle for A x = b from x = 0 on the finest level, the first of `levels`.
std::vector<CycleStep> cycle_program(std::span<const ProgramLevel> levels, CycleKind kind);

}  // namespace trireme::multigrid
