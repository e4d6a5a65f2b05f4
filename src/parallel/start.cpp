// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/start.hpp"

#include <mpi.h>

#include <cstdlib>
#include <mutex>

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

}  // namespace trireme
