// SPDX-License-Identifier: BSD-3-Clause
// Which vector entries travel between which ranks, and their transport by MPI.
//
// The plan is plain data: MPI, pinned staging and NCCL all run from it. The transport is a set of
// persistent requests rather than PETSc's PetscSF: the buffers belong to the caller (pageable for
// the host, pinned for a GPU), starting it costs one call, nothing is packed twice, and programs
// that bring their own Krylov loop need no PETSc for it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"

namespace trireme {

struct HaloPlan {
  // `count` entries at `offset` of the packed send vector, or of the ghost vector.
  struct Neighbour {
    int rank = 0;
    std::int32_t offset = 0;
    std::int32_t count = 0;
  };
  std::vector<Neighbour> sends;     // ascending ranks
  std::vector<Neighbour> receives;  // ascending ranks; together they fill the ghost vector
  Array<std::int32_t> send_rows;    // the local row for each entry of the packed send vector
  std::int32_t ghosts = 0;          // length of the ghost vector

  bool empty() const { return sends.empty() && receives.empty(); }
};

// `ghost_columns` ascending, none of them this rank's own; rank r owns the columns
// [row_starts[r], row_starts[r+1]). Collective.
HaloPlan plan_halo(MPI_Comm comm, std::span<const std::int64_t> row_starts,
                   std::span<const std::int32_t> ghost_columns);

// Moves packed entries to the neighbours' ghost vectors (forward: y = A x), or ghost contributions
// back to their owners (reverse: y = A^T x). The buffers and the plan must outlive it.
class HaloExchange {
 public:
  // packed.size() == plan.send_rows.size(), ghosts.size() == plan.ghosts. Collective.
  HaloExchange(MPI_Comm comm, const HaloPlan& plan, std::span<double> packed,
               std::span<double> ghosts);
  ~HaloExchange();
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;

  void begin() { start(forward_); }          // `packed` must be filled, neither buffer touched
  void end() { wait(forward_); }             // `ghosts` is filled
  void begin_reverse() { start(reverse_); }  // `ghosts` must be filled, neither buffer touched
  void end_reverse() { wait(reverse_); }     // `packed` holds what each send row is owed

 private:
  using Requests = std::vector<MPI_Request>;
  static void start(Requests& requests);
  static void wait(Requests& requests);

  MPI_Comm comm_ = MPI_COMM_NULL;  // our own, so that tags cannot clash
  Requests forward_, reverse_;
};

}  // namespace trireme
