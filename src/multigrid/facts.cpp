// SPDX-License-Identifier: BSD-3-Clause
// Complexities from the sizes of the levels.
#include "multigrid/facts.hpp"

namespace trireme::multigrid {
namespace {

double per_finest(std::span<const LevelFacts> levels, std::int64_t LevelFacts::*size) {
  double all = 0;
  for (const LevelFacts& level : levels) all += static_cast<double>(level.*size);
  const auto finest = levels.empty() ? 0.0 : static_cast<double>(levels.front().*size);
  return finest > 0 ? all / finest : 1;
}

}  // namespace

double operator_complexity(std::span<const LevelFacts> levels) {
  return per_finest(levels, &LevelFacts::nnz);
}

double grid_complexity(std::span<const LevelFacts> levels) {
  return per_finest(levels, &LevelFacts::rows);
}

}  // namespace trireme::multigrid
