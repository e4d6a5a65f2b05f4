// SPDX-License-Identifier: BSD-3-Clause
// MPI for a library whose program may not have started it.
#pragma once

#include <mpi.h>

namespace trireme {

// Starts MPI for this process alone where the program has not, for calls from any thread, and ends
// it with the process. Safe to call from several threads.
void start_mpi_if_needed();

// Whether this is a build with MPI.
bool mpi_is_here();

// The communicator at the address of a caller who knows MPI by another header than this one. Throws
// Error{usage} in a build without MPI.
MPI_Comm communicator_at(const void* address);

}  // namespace trireme
