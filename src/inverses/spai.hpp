// SPDX-License-Identifier: BSD-3-Clause
// A sparse approximate inverse M of any matrix A (least_squares_row.hpp).
#pragma once

#include <cstdint>

#include "distributed/distributed_matrix.hpp"
#include "inverses/row_rules.hpp"
#include "sparse/csr.hpp"

namespace trireme::inverses {

struct SpaiOptions {
  // By which the pattern of a row grows, by at most kEntriesPerStep entries each: 1 to kMostSteps.
  std::int32_t steps = 10;
  bool operator==(const SpaiOptions&) const = default;
};

// The rows of M of this rank, with ascending global columns. The bits are the same for any number
// of threads; another number of ranks leaves other columns out. Throws Error on every rank: input
// where a row of A is zero, resource where the memory does not suffice, or more than 2^31-1 entries
// come out. Collective.
RowSlab make_spai(const DistributedMatrix& matrix, const SpaiOptions& options);
// Gives `m` the numbers for other values of the matrix on the same pattern. Collective.
void renew_spai(const DistributedMatrix& matrix, RowSlab& m);

}  // namespace trireme::inverses
