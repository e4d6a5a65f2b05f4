// SPDX-License-Identifier: BSD-3-Clause
// The rows of a prolongator that belong to the ghost columns of a matrix: their owners send them.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

struct GhostRows {
  CsrMatrix<double> rows;       // one row per ghost of the halo; cols == columns.size()
  Array<std::int32_t> columns;  // the global coarse column of each column of `rows`, ascending
};

// `p` has the local rows of the halo's matrix, and its column j is the global coarse column
// first_column + j. Columns of the result ascend within a row where they do in `p`. Collective.
GhostRows fetch_ghost_rows(MPI_Comm comm, const HaloPlan& halo, const CsrView<double>& p,
                           std::int64_t first_column);

}  // namespace trireme::multigrid
