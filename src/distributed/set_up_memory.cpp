// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/set_up_memory.hpp"

#include "base/error.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"

namespace trireme {

void require_set_up_memory(MPI_Comm comm, std::int64_t mine, std::string_view what) {
  const NodeMemory memory = node_memory(comm, mine);
  const auto gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  collectively(comm, [&] {
    if (mine > memory.own)
      fail(ExitCode::resource,
           "{} may take {:.2f} GiB on this rank, {:.2f} GiB of address space are left; use more "
           "ranks, or raise the limit (ulimit -v)",
           what, gib(mine), gib(memory.own));
    if (memory.needed > memory.shared)
      fail(ExitCode::resource,
           "{} may take {:.2f} GiB on this node, {:.2f} GiB are available; use more nodes, or "
           "preconditioner: jacobi, which needs 8 bytes per row",
           what, gib(memory.needed), gib(memory.shared));
  });
}

}  // namespace trireme
