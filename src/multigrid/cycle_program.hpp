// SPDX-License-Identifier: BSD-3-Clause
// A cycle as a list of steps. The text of cycle.hpp runs once, on an executor that writes down what it
// is asked for and joins each product with the pass that follows it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "multigrid/cycle.hpp"
#include "multigrid/cycle_step.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// The vectors of a level. A smoothing goes from one of x and twin to the other. On the finest level b
// and x are those of the caller, and x has the result.
enum class LevelVector : std::int32_t { none, b, x, twin, d, q };

struct VectorRef {
  std::int32_t level = 0;
  LevelVector vector = LevelVector::none;
  bool operator==(const VectorRef&) const = default;
};

// A step without addresses. The members are those of StepData.
struct CycleStep {
  StepKind kind = StepKind::product;
  StepMatrix matrix = StepMatrix::none;
  std::int32_t level = 0;  // of the matrix or of W; transfers belong to the finer of their levels
  bool from_zero = false;
  double f = 0, g = 0, start = 0;
  VectorRef x{}, b{}, last{}, d{}, to{}, kept{};
};

// What the recording needs to know of a level.
struct ProgramLevel {
  CycleLevel::Kind kind = CycleLevel::Kind::smoothed;
  Smoothing smoothing;
  std::int64_t block_size = 1;  // of W
};

// The steps of one cycle for A x = b from x = 0 on the finest level, the first of `levels`.
std::vector<CycleStep> cycle_program(std::span<const ProgramLevel> levels, CycleKind kind);

}  // namespace trireme::multigrid
