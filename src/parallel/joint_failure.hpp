// SPDX-License-Identifier: BSD-3-Clause
// An error in work during which the ranks wait for each other, such as a solver's loop: if every
// rank has it, it is an error like others; if not, the rest would wait for ever.
#pragma once

#include <mpi.h>

#include "base/error.hpp"

namespace trireme {

class JointFailure {
 public:
  explicit JointFailure(MPI_Comm comm);  // collective
  ~JointFailure();                       // collective
  JointFailure(const JointFailure&) = delete;
  JointFailure& operator=(const JointFailure&) = delete;

  // Returns when every rank has called it. Where some have not within a few seconds, says the error
  // of this rank in one line and ends all ranks with its exit code.
  void confirm(const Error& error);

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace trireme
