// SPDX-License-Identifier: BSD-3-Clause
// The rows of one rank as the set-up reads them.
#pragma once

#include <cstdint>
#include <span>

#include "sparse/csr.hpp"

namespace trireme {
struct DistributedMatrix;
}

namespace trireme::multigrid {

// The rows of a level that this rank owns, a view. Its columns are those rows, and behind them,
// where the level lies on several ranks, those of the ghost nodes (ExtendedRows). Unknown u of a
// node is row block_size * node + u, so that first_row is a multiple of the block size.
struct LocalRows {
  CsrView<double> local;
  std::int64_t first_row = 0;                  // of the rank
  std::span<const std::int32_t> callers_rows;  // as in DistributedMatrix

  // The number by which messages name a local row.
  std::int64_t callers_row(std::int64_t row) const {
    return callers_rows.empty() ? first_row + row : callers_rows[row];
  }
};

// The rows of this rank, without the columns of ghosts.
LocalRows local_rows(const DistributedMatrix& matrix);

}  // namespace trireme::multigrid
