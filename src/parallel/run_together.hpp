// SPDX-License-Identifier: BSD-3-Clause
// Runs work of all ranks together: an exception leaves it on every rank or on none.
//
// An AgreedError of all ranks passes through. Any other exception may exist on this rank only,
// while the others wait for this rank in a collective call. It is confirmed or ends all ranks, so
// that a new call that throws needs no special care. Between the throw and run_together(), no
// destructor may wait for other ranks; a destructor that would wait asks error_in_flight() first.
#pragma once

#include <mpi.h>

#include <utility>

#include "parallel/collective.hpp"
#include "parallel/joint_failure.hpp"

namespace trireme {

// Returns the result of `work`. Throws nothing but AgreedError, on every rank of `comm`. Where one
// rank fails and the others do not within a few seconds, ends all ranks with the line and the exit
// code of the failing rank. Collective.
template <class Work>
auto run_together(MPI_Comm comm, Work&& work) {
  JointFailure failure(comm);
  try {
    return std::forward<Work>(work)();
  } catch (const AgreedError& error) {
    if (error.ranks() == size_of(comm)) throw;
    failure.confirm(std::current_exception());
  } catch (...) {
    failure.confirm(std::current_exception());
  }
}

}  // namespace trireme
