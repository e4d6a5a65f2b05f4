// SPDX-License-Identifier: BSD-3-Clause
// The rows of one rank as the set-up reads them.
#pragma once

#include <cstdint>
#include <span>

#include "sparse/csr.hpp"

namespace trireme::multigrid {

// The rows of a level that this rank owns, a view. Columns of `local` are those rows; columns of
// `ghost` are rows of other ranks, of which ghost_columns has the numbers in the whole matrix. The
// ghost block may have no rows at all where it has no entries. Unknown u of a node is row
// block_size * node + u, so that first_row is a multiple of the block size.
struct LocalRows {
  CsrView<double> local;
  CsrView<double> ghost;
  std::span<const std::int32_t> ghost_columns;
  std::int64_t first_row = 0;  // of the rank, for messages
};

}  // namespace trireme::multigrid
