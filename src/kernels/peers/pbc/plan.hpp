// SPDX-License-Identifier: BSD-3-Clause
// Which partitions PBC tries, and how large its blocks are.
//
// A search over all numbers of blocks would deal all rows once per number, which is quadratic in
// the rows. We try kCandidates numbers per panel, from the number that gives the wanted mean of
// nonzeros upwards. The rows of a panel are sorted once. One number of blocks then takes O(rows
// log(blocks)) time at most, and less where many rows have the same length, because whole rounds of
// them are dealt at once. All OpenMP threads share the panels.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace trireme::pbc {

// A block has about this many nonzeros. A small matrix gets smaller blocks, so that it has about
// kWantedBlocks of them.
inline constexpr std::int64_t kMeanNonzeros = 1024;
inline constexpr std::int64_t kMinMeanNonzeros = 256;
inline constexpr std::int64_t kWantedBlocks = 512;
// Longer rows have a block of their own.
inline constexpr std::int64_t kMaxRow = 1024;
// No other block has more nonzeros: the row that a block takes last goes to the block with the
// fewest nonzeros, which has at most the mean.
inline constexpr std::int64_t kMaxNonzeros = kMeanNonzeros + kMaxRow;
// The number of rows per panel is a power of two.
inline constexpr std::int64_t kBlocksPerPanel = 32;
inline constexpr std::int64_t kMinPanelRows = 1 << 8;
inline constexpr std::int64_t kMaxPanelRows = 1 << 14;
inline constexpr std::int64_t kCandidates = 8;

struct Plan {
  std::int64_t mean_nonzeros = kMeanNonzeros;  // the maximum of the mean per block
  std::int64_t max_row = kMaxRow;
  std::int64_t panel_rows = kMinPanelRows;
  std::int64_t candidates = kCandidates;  // numbers of blocks that are tried per panel

  std::int64_t panels(std::int64_t rows) const { return (rows + panel_rows - 1) / panel_rows; }
};

inline Plan make_plan(std::int64_t rows, std::int64_t nnz) {
  Plan plan;
  plan.mean_nonzeros = std::clamp(nnz / kWantedBlocks, kMinMeanNonzeros, kMeanNonzeros);
  const std::int64_t wanted_rows =
      kBlocksPerPanel * plan.mean_nonzeros * rows / std::max<std::int64_t>(nnz, 1);
  const auto power = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(wanted_rows, 1))));
  plan.panel_rows = std::clamp(power, kMinPanelRows, kMaxPanelRows);
  return plan;
}

}  // namespace trireme::pbc
