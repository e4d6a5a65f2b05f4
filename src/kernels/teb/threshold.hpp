// SPDX-License-Identifier: BSD-3-Clause
// TEB's heuristic threshold (paper, section 3.1.1): the largest number of nonzeros per block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::teb {

// Rows of the same length. The heuristic needs no more of a matrix than these runs, so that a trial
// costs O(runs), also for a matrix of millions of rows.
struct Run {
  std::int64_t length = 0;
  std::int64_t rows = 0;
};

// The longest rows come first, no length occurs twice, and empty rows are left out.
using RowRuns = std::vector<Run>;

std::int64_t nonzeros(const RowRuns& runs);

// counts[l] is the number of rows of l nonzeros; `longer` has the lengths of all other rows, in any
// order.
RowRuns runs_of(std::span<const std::int64_t> counts, std::vector<std::int32_t> longer);

// S^2, equation 5: the variance of the nonzeros per block when algorithm 2 merges the rows into
// `blocks` blocks with the threshold k nnz / blocks. The last block takes all remaining rows;
// blocks that get no row count as 0 nonzeros.
double block_variance(const RowRuns& runs, std::int64_t blocks, double k);

// bLN_critical, equation 7: the smallest number of blocks for which k = 1.01 gives a smaller
// variance than k = 1, or max_blocks + 1 if there is none. The function tries every number where
// that is cheap. Otherwise it doubles and bisects, which finds the same number where the relation
// of figure 10 holds (the best k grows with the number of blocks).
std::int64_t critical_blocks(const RowRuns& runs, std::int64_t max_blocks);

// Figure 11: 1.005 where the mean exceeds the critical mean, 1.01 where it exceeds half of the
// critical mean, and 1.03 otherwise.
double select_k(double mean, double critical_mean);

struct Threshold {
  std::int64_t blocks = 1;  // bLN
  double k = 1;
  std::int32_t nonzeros = 0;  // the threshold, rounded down
};

// Considers numbers of blocks for which a block has about mean_nonzeros nonzeros and the threshold
// is at most max_nonzeros. Returns the one with the smallest variance.
Threshold select_threshold(const RowRuns& runs, std::int64_t mean_nonzeros,
                           std::int64_t max_nonzeros);

}  // namespace trireme::teb
