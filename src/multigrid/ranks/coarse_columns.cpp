// SPDX-License-Identifier: BSD-3-Clause
// Plans the exchanges of coarse columns.
#include "multigrid/ranks/coarse_columns.hpp"

#include <numeric>
#include <utility>

namespace trireme::multigrid {

CoarseColumns coarse_columns(MPI_Comm comm, std::vector<std::int64_t> starts,
                             Array<std::int32_t> ghosts) {
  CoarseColumns columns{
      .comm = comm, .starts = std::move(starts), .ghosts = std::move(ghosts), .halo{}, .back{}};
  columns.halo = plan_halo(comm, columns.starts, columns.ghosts);
  columns.back.sends = columns.halo.receives;
  columns.back.receives = columns.halo.sends;
  columns.back.send_rows.resize(columns.ghosts.size());
  std::iota(columns.back.send_rows.begin(), columns.back.send_rows.end(),
            static_cast<std::int32_t>(columns.own()));
  columns.back.ghosts = static_cast<std::int32_t>(columns.halo.send_rows.size());
  return columns;
}

}  // namespace trireme::multigrid
