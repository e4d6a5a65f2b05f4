// SPDX-License-Identifier: BSD-3-Clause
// Threads for ranks that share the cores of a machine.
#pragma once

#include <mpi.h>

namespace trireme {

// The threads of one of `ranks` ranks, all of which may run on `cores` cores together, and this one
// on `own` of them; at least 1.
int share_of_cores(int cores, int own, int ranks);

// Gives each rank its share of the cores on which the ranks of its node may run, unless
// OMP_NUM_THREADS says how many threads it has. OpenMP would give each rank a thread for every core
// that it may use: where launchers leave these to several ranks, as Open MPI does from three ranks
// on, they would wait for each other. Collective.
void share_cores(MPI_Comm comm);

}  // namespace trireme
