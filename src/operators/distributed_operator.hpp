// SPDX-License-Identifier: BSD-3-Clause
// A square or rectangular matrix distributed by contiguous row blocks: y = A x on all ranks.
//
//   this rank's rows = [ local block | ghost block ]
//   local block: columns that this rank owns, renumbered from 0, times its part of x
//   ghost block: all other columns that occur, renumbered densely, times the halo
// Each block is a kernel. The halo travels while the local product runs.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The two blocks of a rank's rows, and which global columns the ghosts are (ascending).
struct SplitRows {
  CsrMatrix<double> local;
  CsrMatrix<double> ghost;                // same rows; cols == ghost_columns.size()
  std::vector<std::int32_t> ghost_columns;
};

// Consumes the slab: where there are no ghosts, its arrays are moved, not copied.
SplitRows split_rows(RowSlab&& slab, std::int64_t first_column, std::int64_t last_column);

}  // namespace trireme
