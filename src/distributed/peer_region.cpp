// SPDX-License-Identifier: BSD-3-Clause
// A barrier with a time limit.
#include "distributed/peer_region.hpp"

#include <chrono>
#include <thread>

namespace trireme {

bool all_arrive_soon(MPI_Comm comm) {
  constexpr auto kPatience = std::chrono::seconds(3);
  MPI_Request all_are_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &all_are_here);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  int done = 0;
  while (!done && std::chrono::steady_clock::now() < end) {
    MPI_Test(&all_are_here, &done, MPI_STATUS_IGNORE);
    if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}

}  // namespace trireme
