// SPDX-License-Identifier: BSD-3-Clause
// The boundary of what ranks do together: an exception leaves it on every rank or on none.
//
// An AgreedError of all ranks passes. Any other exception may be on this rank only, while the
// others wait for it in a collective call; so nothing is agreed upon by default, and a new call
// that throws needs no care. Between the throw and this boundary no destructor may wait for other
// ranks; those that would ask error_in_flight().
#pragma once

#include <mpi.h>

#include <utility>

#include "parallel/collective.hpp"
#include "parallel/joint_failure.hpp"

namespace trireme {

// Returns what `work` returns. Throws nothing but AgreedError, on every rank of `comm`; where not
// every rank fails within a few seconds, ends all ranks with the line and exit code of the rank
// that did. Collective.
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
