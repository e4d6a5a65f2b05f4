// SPDX-License-Identifier: BSD-3-Clause
// R-MAT (Chakrabarti, Zhan, Faloutsos, SDM 2004): each of the k 2^s edges falls into a quadrant of
// the matrix, then into a quadrant of that quadrant, and so on, s times. The probabilities are .57
// .19 .19 .05. Duplicate edges are removed.
//
// Single rows are made as follows. The number of edges in the upper half of the rows has a binomial
// distribution, and so has the number in the upper half of that half, down a tree to a single row.
// Given the bits of the row, the bits of the column are independent.
#include <cmath>

#include "sparse/counter_random.hpp"
#include "sparse/row_source.hpp"

namespace trireme {
namespace {

constexpr double kUpperRows = 0.57 + 0.19;
// Probabilities times 2^16 of the right half, given the upper or the lower half.
constexpr std::uint32_t kRightInUpper = 16384;  // 0.19 / (0.57 + 0.19)
constexpr std::uint32_t kRightInLower = 13653;  // 0.05 / (0.19 + 0.05), rounded down

// Draws how many of `count` trials succeed: trial by trial where they are few, and by the normal
// approximation otherwise.
std::int64_t draw_binomial(std::int64_t count, double probability, CounterRandom& random) {
  constexpr std::int64_t kFew = 64;
  if (count <= kFew) {
    std::int64_t successes = 0;
    for (std::int64_t k = 0; k < count; ++k) successes += random.chance(probability);
    return successes;
  }
  constexpr double kTwoPi = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  const double normal = radius * std::cos(kTwoPi * random.uniform());
  const double mean = static_cast<double>(count) * probability;
  const double drawn = std::round(mean + normal * std::sqrt(mean * (1 - probability)));
  return std::min(std::max(static_cast<std::int64_t>(drawn), std::int64_t{0}), count);
}

class RmatRows final : public RandomValueSource {
 public:
  RmatRows(const GenerateSpec& spec, std::int64_t first_row, std::int64_t last_row)
      : RandomValueSource(spec.seed),
        scale_(static_cast<int>(spec.n)),
        first_row_(first_row),
        edges_(std::max<std::int64_t>(last_row - first_row, 0)) {
    constexpr std::int64_t kRowsAtOnce = 4096;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = first_row; begin < last_row; begin += kRowsAtOnce)
      share_out(0, std::int64_t{1} << scale_, spec.k << scale_, begin,
                std::min(begin + kRowsAtOnce, last_row));
  }

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    CounterRandom random(seed_, Purpose::columns, row);
    const std::size_t begin = columns.size();
    const std::int64_t edges = edges_[row - first_row_];
    columns.reserve(begin + edges);
    for (std::int64_t edge = 0; edge < edges; ++edge) columns.push_back(draw_column(row, random));
    make_ascending(columns, begin);
  }

 private:
  // The rows [first, first + size) have `count` edges. Finds the number of edges of those of these
  // rows that lie in [begin, end).
  void share_out(std::int64_t first, std::int64_t size, std::int64_t count, std::int64_t begin,
                 std::int64_t end) {
    if (first >= end || first + size <= begin) return;
    if (size == 1) {
      edges_[first - first_row_] = count;
      return;
    }
    const std::int64_t half = size / 2;
    CounterRandom random(seed_, Purpose::splits, first + half);  // each midpoint occurs once
    const std::int64_t upper = draw_binomial(count, kUpperRows, random);
    share_out(first, half, upper, begin, end);
    share_out(first + half, half, count - upper, begin, end);
  }

  // Each 64 random bits give four bits of the column.
  std::int32_t draw_column(std::int64_t row, CounterRandom& random) const {
    std::uint32_t column = 0;
    std::uint64_t bits = 0;
    for (int level = 0; level < scale_; ++level) {
      bits = level % 4 == 0 ? random.bits() : bits >> 16;
      const bool lower = row >> (scale_ - 1 - level) & 1;
      const bool right = (bits & 0xffff) < (lower ? kRightInLower : kRightInUpper);
      column = column << 1 | static_cast<std::uint32_t>(right);
    }
    return static_cast<std::int32_t>(column);
  }

  int scale_;
  std::int64_t first_row_;
  std::vector<std::int64_t> edges_;  // edges per row, with duplicates
};

}  // namespace

std::unique_ptr<RowSource> make_rmat(const GenerateSpec& spec, std::int64_t first_row,
                                     std::int64_t last_row) {
  return std::make_unique<RmatRows>(spec, first_row, last_row);
}

}  // namespace trireme
