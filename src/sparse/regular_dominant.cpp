// SPDX-License-Identifier: BSD-3-Clause
// Regular patterns with the values of DominantSource: blocks, bands and arrow.
#include <algorithm>

#include "sparse/dominant_source.hpp"

namespace trireme {
namespace {

void append_range(std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& columns) {
  for (std::int64_t column = begin; column < end; ++column) columns.push_back(column);
}

// 5 unknowns per node of a 7-point grid, as of a reacting flow; all blocks are dense.
class BlockRows final : public DominantSource {
 public:
  BlockRows(std::int64_t n, std::uint64_t seed) : DominantSource(seed, Signs::both), n_(n) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    const std::int64_t node = row / kUnknowns;
    const std::int64_t x = node % n_, y = node / n_ % n_, z = node / (n_ * n_);
    const auto append_node = [&](bool exists, std::int64_t distance) {
      const std::int64_t first = kUnknowns * (node + distance);
      if (exists) append_range(first, first + kUnknowns, columns);
    };
    append_node(z > 0, -n_ * n_);
    append_node(y > 0, -n_);
    append_node(x > 0, -1);
    append_node(true, 0);
    append_node(x < n_ - 1, 1);
    append_node(y < n_ - 1, n_);
    append_node(z < n_ - 1, n_ * n_);
  }

 private:
  static constexpr std::int64_t kUnknowns = 5;
  std::int64_t n_;
};

// A band of `reach` columns on either side of the diagonal. In an arrow, the last `dense` rows and
// columns are full.
class BandRows final : public DominantSource {
 public:
  BandRows(std::int64_t n, std::int64_t reach, std::int64_t dense, Signs signs, std::uint64_t seed)
      : DominantSource(seed, signs),
        n_(n),
        reach_(reach),
        first_dense_(std::max<std::int64_t>(n - dense, 0)) {}

  void append_columns(std::int64_t row, std::vector<std::int64_t>& columns) const override {
    if (row >= first_dense_) {
      append_range(0, n_, columns);
      return;
    }
    const std::int64_t end = std::min(row + reach_ + 1, n_);
    append_range(std::max<std::int64_t>(row - reach_, 0), end, columns);
    append_range(std::max(end, first_dense_), n_, columns);
  }

 private:
  std::int64_t n_, reach_, first_dense_;
};

}  // namespace

std::unique_ptr<RowSource> make_blocks(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<BlockRows>(spec.n, spec.seed);
}

std::unique_ptr<RowSource> make_bands(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<BandRows>(spec.n, spec.k, 0, Signs::both, spec.seed);
}

std::unique_ptr<RowSource> make_arrow(const GenerateSpec& spec, std::int64_t, std::int64_t) {
  return std::make_unique<BandRows>(spec.n, 4, 4, Signs::negative, spec.seed);
}

}  // namespace trireme
