// SPDX-License-Identifier: BSD-3-Clause
// The halo of a distribution of rows in figures.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "distributed/halo.hpp"
#include "report/distribution_outcome.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// `nnz` is that of this rank's rows. The time is that of the fastest of several exchanges, on the
// slowest rank. Collective, as is the other function.
HaloOutcome halo_figures(MPI_Comm comm, const HaloPlan& plan, std::int64_t nnz, bool measure);
// The same for rows that were not split yet.
HaloOutcome halo_figures(MPI_Comm comm, const RowSlab& slab,
                         std::span<const std::int64_t> row_starts, bool measure);

}  // namespace trireme
