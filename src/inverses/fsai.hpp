// SPDX-License-Identifier: BSD-3-Clause
// The factor G of the factorised sparse approximate inverse G^T G of a symmetric positive definite
// matrix (growing_row.hpp).
#pragma once

#include <cstdint>

#include "distributed/distributed_matrix.hpp"
#include "inverses/row_rules.hpp"
#include "inverses/scaled_rows.hpp"
#include "sparse/csr.hpp"

namespace trireme::inverses {

struct FsaiOptions {
  // By which the pattern of a row grows, by at most kEntriesPerStep entries each: 1 to kMostSteps.
  std::int32_t steps = 10;
  bool operator==(const FsaiOptions&) const = default;
};

// The rows of G of this rank, with ascending global columns, of which the last one is the diagonal.
// The bits are the same for any number of threads; another number of ranks leaves other columns
// out. Throws Error on every rank: resource where the memory does not suffice, or more than 2^31-1
// entries come out. Collective.
RowSlab make_fsai(const DistributedMatrix& matrix, const ScaledRows& a, const FsaiOptions& options);
// Gives `g` the numbers for other values of the matrix on the same pattern. Collective.
void renew_fsai(const DistributedMatrix& matrix, const ScaledRows& a, RowSlab& g);

// The rows of G^T of this rank, with ascending global columns. Collective.
RowSlab transposed(const DistributedMatrix& matrix, const RowSlab& g);

}  // namespace trireme::inverses
