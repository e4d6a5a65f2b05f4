// SPDX-License-Identifier: BSD-3-Clause
// MPI for a library whose program may not have started it.
#pragma once

namespace trireme {

// Starts MPI for this process alone where the program has not, for calls from any thread, and ends
// it with the process. Safe to call from several threads.
void start_mpi_if_needed();

}  // namespace trireme
