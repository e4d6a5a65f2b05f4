// SPDX-License-Identifier: BSD-3-Clause
// TEB's heuristic threshold (paper, section 3.1.1): how many nonzeros a block may hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trireme::teb {

// Rows of one length. All that the heuristic needs to know of a matrix: it works on runs of rows,
// so one trial costs O(runs), be there millions of rows.
struct Run {
  std::int64_t length = 0;
  std::int64_t rows = 0;
};

// Longest first, no length twice, no empty rows.
using RowRuns = std::vector<Run>;

std::int64_t nonzeros(const RowRuns& runs);
// counts[l]: rows of l nonzeros; `longer`: the lengths of the other rows, in any order.
RowRuns runs_of(std::span<const std::int64_t> counts, std::vector<std::int32_t> longer);

// S^2, equation 5: the variance of the blocks' nonzeros when the rows are merged into `blocks`
// blocks with threshold k nnz / blocks (algorithm 2: the last block takes what is left, missing
// ones are 0).
double block_variance(const RowRuns& runs, std::int64_t blocks, double k);

// bLN_critical, equation 7: the smallest number of blocks for which k = 1.01 gives the smaller
// variance than k = 1; max_blocks + 1 if there is none. Tries every number where that is cheap;
// else doubles and bisects, which finds the same where the relation of figure 10 (best k grows with
// the blocks) holds.
std::int64_t critical_blocks(const RowRuns& runs, std::int64_t max_blocks);

// Figure 11: 1.005 above the critical mean, 1.01 above half of it, else 1.03.
double select_k(double mean, double critical_mean);

struct Threshold {
  std::int64_t blocks = 1;  // bLN
  double k = 1;
  std::int32_t nonzeros = 0;  // the threshold, rounded down
};

// Of the block numbers whose threshold is at most max_nonzeros and whose blocks hold about
// mean_nonzeros, the one with the smallest variance.
Threshold select_threshold(const RowRuns& runs, std::int64_t mean_nonzeros,
                           std::int64_t max_nonzeros);

}  // namespace trireme::teb
