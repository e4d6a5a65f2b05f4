// SPDX-License-Identifier: BSD-3-Clause
// Whether the memory suffices for the set-up of a preconditioner, before it begins.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

namespace trireme {

// Throws Error{resource} on every rank where `mine` bytes on each rank do not fit into a rank's
// address space, or those of a node into its memory. `what` begins the line: "setting up
// multigrid". Collective.
void require_set_up_memory(MPI_Comm comm, std::int64_t mine, std::string_view what);

}  // namespace trireme
