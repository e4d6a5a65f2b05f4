// SPDX-License-Identifier: BSD-3-Clause
// The rows of a matrix on ranks matched with its columns (sparse/transversal.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/scaling/matching_store.hpp"
#include "distributed/scaling/on_rank_zero.hpp"

namespace trireme {

struct MatchingRules {
  std::int64_t most_on_rank_zero = kMostOnRankZero;
  MatchingStore* store = nullptr;  // null: none is looked up or kept
};

// This rank's part.
struct RankMatching {
  Matched what = Matched::whole;
  std::string origin;  // of a matching that was found in the store; empty: this call has made it
  Array<double> row_log2, column_log2;
  Array<double> places;  // of each column: the row of all ranks with which it is matched
  // Rows of all ranks without a column, and the first one, by the number that messages name.
  std::int64_t unmatched_rows = 0;
  std::int64_t first_unmatched = -1;
};

// Where rank 0 can take the whole matrix, the matching is that of one rank, bit for bit. Otherwise
// each rank matches its diagonal block. A matching from the store is taken where its scales prove
// it. Throws Error{resource} on every rank where one has more than 2^31-1 nonzeros, and
// Error{input} for values that are not finite. Collective.
RankMatching match(const DistributedMatrix& matrix, const MatchingRules& rules);

}  // namespace trireme
