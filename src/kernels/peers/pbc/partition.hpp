// SPDX-License-Identifier: BSD-3-Clause
// Partitions the rows of a panel into blocks of about equal numbers of nonzeros.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::pbc {

// S^2 (TEB, equation 5): the mean of (nonzeros - mean)^2 over the blocks.
double block_variance(std::span<const std::int64_t> block_nonzeros);

struct Partition {
  std::vector<std::int64_t> nonzeros;  // per block
  std::vector<std::int32_t> block_of;  // per row; blocks are numbered by their first rows
};

// Deals the rows to `blocks` blocks: the longest row first, each to the block with the fewest
// nonzeros so far (the longest-processing-time rule of Graham 1969). Rows of the same length then
// go to the blocks in ascending order, which changes no number of nonzeros and keeps neighbours
// together. All lengths are positive, and 1 <= blocks <= rows. Takes O(rows log rows) time.
Partition partition_rows(std::span<const std::int32_t> lengths, std::int64_t blocks);

// The partition with the least S^2 among `candidates` numbers of blocks, the first of which gives a
// mean of at most mean_nonzeros. The smaller number wins where S^2 is equal. No row, no block.
Partition best_partition(std::span<const std::int32_t> lengths, std::int64_t mean_nonzeros,
                         std::int64_t candidates);

}  // namespace trireme::pbc
