// SPDX-License-Identifier: BSD-3-Clause
// A barrier with a patience.
#include "parallel/joint_failure.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr auto kPatience = std::chrono::seconds(3);

}  // namespace

JointFailure::JointFailure(MPI_Comm comm) { MPI_Comm_dup(comm, &comm_); }

JointFailure::~JointFailure() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Comm_free(&comm_);
}

void JointFailure::confirm(const Error& error) {
  MPI_Request all_are_here;
  MPI_Ibarrier(comm_, &all_are_here);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (int done = 0; std::chrono::steady_clock::now() < end;) {
    MPI_Test(&all_are_here, &done, MPI_STATUS_IGNORE);
    if (done) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  fmt::print(stderr, "trireme: rank {}: {}\n", rank_of(comm_), error.what());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(error.code()));
}

}  // namespace trireme
