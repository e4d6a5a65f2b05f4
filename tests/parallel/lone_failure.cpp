// SPDX-License-Identifier: BSD-3-Clause
// One rank fails while the others wait for it: what a GPU that falls off the bus looks like.
#include <mpi.h>

#include "parallel/collective.hpp"
#include "parallel/joint_failure.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    trireme::JointFailure failure(MPI_COMM_WORLD);
    if (trireme::rank_of(MPI_COMM_WORLD) == 1)
      failure.confirm(trireme::Error(trireme::ExitCode::resource, "the GPU of this rank is gone"));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}
