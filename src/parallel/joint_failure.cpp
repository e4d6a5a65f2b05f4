// SPDX-License-Identifier: BSD-3-Clause
// A barrier with a time limit.
#include "parallel/joint_failure.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 2500ms;
// Of several ranks that fail alike, the lowest ends the program before the others print their
// errors.
constexpr auto kLaterPerRank = 10ms;
constexpr int kRanksInOrder = 50;
constexpr std::size_t kReserveBytes = std::size_t{4} << 20;

}  // namespace

JointFailure::JointFailure(MPI_Comm comm) : reserve_(new char[kReserveBytes]) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

JointFailure::~JointFailure() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Comm_free(&comm_);
}

bool JointFailure::every_rank_comes() {
  MPI_Request all_are_here = MPI_REQUEST_NULL;
  const auto end = std::chrono::steady_clock::now() + kPatience +
                   std::min(rank_of(comm_), kRanksInOrder) * kLaterPerRank;
  bool works = MPI_Ibarrier(comm_, &all_are_here) == MPI_SUCCESS;
  while (std::chrono::steady_clock::now() < end) {
    int done = 0;
    works = works && MPI_Test(&all_are_here, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (works && done) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

void JointFailure::confirm(const std::exception_ptr& error) {
  reserve_.reset();
  if (every_rank_comes()) agree_on_error(comm_, error);
  end_all_ranks(describe(error));
}

void end_all_ranks(const Error& error) noexcept {
  const int code = static_cast<int>(error.code());
  static std::atomic_flag ending;
  if (ending.test_and_set()) {  // another thread of this rank, or a second call
    std::this_thread::sleep_for(1s);
    std::_Exit(code);
  }
  std::fflush(stdout);
  std::fprintf(stderr, "%s: rank %d: %s\n", program_invocation_short_name, rank_of(MPI_COMM_WORLD),
               error.what());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace trireme
