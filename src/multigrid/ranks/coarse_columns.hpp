// SPDX-License-Identifier: BSD-3-Clause
// The columns of a prolongator, which may cross the borders of ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

// Column j of this rank's rows of P is the coarse row first() + j where j < own(), and otherwise
// the coarse row ghosts[j - own()], which belongs to another rank.
struct CoarseColumns {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<std::int64_t> starts;  // rank r has the coarse rows starts[r] .. starts[r+1]-1
  Array<std::int32_t> ghosts;        // ascending
  HaloPlan halo;                     // brings the ghosts to this rank
  // Of columns of P: takes the ghosts to their owners, ghost k of it for halo.send_rows[k].
  HaloPlan back;

  std::int64_t first() const { return starts[rank_of(comm)]; }
  std::int64_t own() const { return starts[rank_of(comm) + 1] - first(); }
};

// Plans the halo and the way back. Collective.
CoarseColumns coarse_columns(MPI_Comm comm, std::vector<std::int64_t> starts,
                             Array<std::int32_t> ghosts);

// All coarse rows belong to this rank, which works alone.
inline CoarseColumns whole_columns(std::int64_t count) {
  return {.comm = MPI_COMM_SELF, .starts = {0, count}, .ghosts{}, .halo{}, .back{}};
}

}  // namespace trireme::multigrid
