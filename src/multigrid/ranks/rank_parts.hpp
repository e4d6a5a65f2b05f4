// SPDX-License-Identifier: BSD-3-Clause
// What a cycle on the GPUs of several ranks needs of each level, as views of arrays on the host.
#pragma once

#include <mpi.h>

#include <vector>

#include "distributed/halo.hpp"
#include "multigrid/cycle/level_parts.hpp"
#include "multigrid/ranks/coarse_columns.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// A level whose rows lie on the ranks. Of `parts`, `a` is the local block, P has the columns that
// `columns` describes, and P^T has them as rows.
struct HostRankLevel {
  HostLevelParts parts;
  const CsrMatrix<double>* ghost = nullptr;  // block of A
  const HaloPlan* halo = nullptr;            // of A
  const CoarseColumns* columns = nullptr;    // null on the coarsest level
};

struct HostRankParts {
  MPI_Comm comm = MPI_COMM_NULL;           // of all ranks
  std::vector<std::int64_t> row_starts;    // of the finest level
  std::vector<HostRankLevel> distributed;  // the finest one first
  std::vector<HostLevelParts> whole;       // the coarser ones, which every rank has as a whole
};

}  // namespace trireme::multigrid
