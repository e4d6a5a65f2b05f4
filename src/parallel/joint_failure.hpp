// SPDX-License-Identifier: BSD-3-Clause
// An error on one rank, for which others may wait: either all ranks throw it, or all ranks end.
#pragma once

#include <mpi.h>

#include <exception>
#include <memory>

#include "base/error.hpp"

namespace trireme {

class JointFailure {
 public:
  explicit JointFailure(MPI_Comm comm);  // collective
  ~JointFailure();                       // collective
  JointFailure(const JointFailure&) = delete;
  JointFailure& operator=(const JointFailure&) = delete;

  // Throws AgreedError, with the error of the lowest rank, when every rank has called it. Where a
  // rank has not done so within a few seconds, prints the error of this rank in one line and ends
  // all ranks with its exit code.
  [[noreturn]] void confirm(const std::exception_ptr& error);

 private:
  bool every_rank_comes();

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<char[]> reserve_;  // freed first, because MPI and the message need memory
};

// Prints the error of this rank in one line and ends all ranks with its exit code.
[[noreturn]] void end_all_ranks(const Error& error) noexcept;

}  // namespace trireme
