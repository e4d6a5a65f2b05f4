// SPDX-License-Identifier: BSD-3-Clause
// Complexities from the sizes of the levels.
#include "multigrid/facts.hpp"

#include <fmt/format.h>

#include <cmath>

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

std::string prolongator_words(const ProlongatorFacts& facts, const Options& options) {
  if (!facts.smoothed) return options.smoothed_prolongator ? "plain, for it would fill" : "plain";
  if (facts.thinned == 0) return "smoothed";
  return fmt::format("thinned 1/{}", std::lround(1 / facts.thinned));
}

}  // namespace trireme::multigrid
