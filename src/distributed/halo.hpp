// SPDX-License-Identifier: BSD-3-Clause
// Which vector entries travel between which ranks, and their transport by MPI.
//
// The plan is plain data, which every exchange uses: MPI, NCCL and peer memory. The transport by
// MPI is a set of persistent requests rather than PETSc's PetscSF, for four reasons. The caller
// owns the buffers (pageable for the host, pinned for a GPU), one call starts the transport, no
// entry is packed twice, and a program with its own Krylov loop needs no PETSc.
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

// `ghost_columns` are global, ascend, and belong to other ranks. Rank r owns the columns
// [row_starts[r], row_starts[r+1]). Throws Error{resource} on every rank where a rank would send
// more than 2^31-1 entries. Collective.
HaloPlan plan_halo(MPI_Comm comm, std::span<const std::int64_t> row_starts,
                   std::span<const std::int64_t> ghost_columns);
HaloPlan plan_halo(MPI_Comm comm, std::span<const std::int64_t> row_starts,
                   std::span<const std::int32_t> ghost_columns);

// The plan for `width` vectors side by side in rows of `stride` elements: the entries of a row are
// element row * stride + j of the vectors, seen as one long vector, and the ghosts lie side by side
// in rows of `width`. Throws Error{resource} where 32 bits do not number the elements of `rows`
// rows.
HaloPlan widened(const HaloPlan& plan, std::int64_t rows, std::int64_t stride, std::int64_t width);

// Moves packed entries to the ghost vectors of the neighbours (forward, for y = A x), or ghost
// contributions back to the owners of the rows (reverse, for y = A^T x). The buffers must outlive
// the object.
class HaloExchange {
 public:
  // Each entry has `width` numbers side by side, one per vector: packed.size() ==
  // plan.send_rows.size() * width, ghosts.size() == plan.ghosts * width. Collective.
  HaloExchange(MPI_Comm comm, const HaloPlan& plan, std::span<double> packed,
               std::span<double> ghosts, int width = 1);
  ~HaloExchange();
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;

  // `packed` must be filled. Until end() returns and has filled `ghosts`, nobody may touch either
  // buffer.
  void begin() { start(forward_); }
  void end() { wait(forward_); }
  // `ghosts` must be filled. end_reverse() fills `packed` with the contribution to each send row.
  void begin_reverse() { start(reverse_); }
  void end_reverse() { wait(reverse_); }

 private:
  using Requests = std::vector<MPI_Request>;
  static void start(Requests& requests);
  static void wait(Requests& requests);

  MPI_Comm comm_ = MPI_COMM_NULL;  // a duplicate, so that tags cannot clash
  Requests forward_, reverse_;
};

}  // namespace trireme
