// SPDX-License-Identifier: BSD-3-Clause
// A communicator of one's own, so that its messages meet no messages of others.
#pragma once

#include <mpi.h>

#include "base/error.hpp"

namespace trireme {

class Communicator {
 public:
  // A duplicate. Collective.
  explicit Communicator(MPI_Comm comm) { MPI_Comm_dup(comm, &comm_); }
  // The ranks of `comm` that have the colour of this rank, in their order. Collective.
  Communicator(MPI_Comm comm, int colour) { MPI_Comm_split(comm, colour, 0, &comm_); }
  // Collective. After an error, which other ranks may not have, the communicator stays.
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

}  // namespace trireme
