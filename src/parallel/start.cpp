// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/start.hpp"

#include <mpi.h>

#include <cstdlib>
#include <mutex>

#include "base/error.hpp"
#include "parallel/quick_mpi_start.hpp"

namespace trireme {
namespace {

void end_mpi() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended) MPI_Finalize();
}

}  // namespace

void start_mpi_if_needed() {
  static std::once_flag once;
  std::call_once(once, [] {
    int started = 0;
    MPI_Initialized(&started);
    if (started) return;
    const QuickMpiStart quick;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    std::atexit(end_mpi);
  });
}

bool mpi_is_here() {
#ifdef TRIREME_PARALLEL_ONE_PROCESS_MPI_H
  return false;
#else
  return true;
#endif
}

MPI_Comm communicator_at(const void* address) {
#ifdef TRIREME_PARALLEL_ONE_PROCESS_MPI_H
  static_cast<void>(address);
  fail(ExitCode::usage,
       "this Trireme was built without MPI and works in one process; build it with TRIREME_MPI=ON");
#else
  return *static_cast<const MPI_Comm*>(address);
#endif
}

}  // namespace trireme
