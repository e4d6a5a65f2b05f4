// SPDX-License-Identifier: BSD-3-Clause
// A duplicate of a communicator, so that messages of a hierarchy meet no messages of others.
#pragma once

#include <mpi.h>

#include "base/error.hpp"

namespace trireme::multigrid {

class Communicator {
 public:
  // Collective.
  explicit Communicator(MPI_Comm comm) { MPI_Comm_dup(comm, &comm_); }
  // Collective. After an error, which other ranks may not have, the duplicate stays.
  ~Communicator() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized && !error_in_flight()) MPI_Comm_free(&comm_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // NOLINTNEXTLINE(google-explicit-constructor): MPI's functions take the communicator.
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace trireme::multigrid
