// SPDX-License-Identifier: BSD-3-Clause
// Errors that the ranks of a part of a communicator share, such as those of a node, made known to
// all others.
#pragma once

#include <mpi.h>

#include <exception>
#include <utility>

#include "parallel/collective.hpp"

namespace trireme {

// Runs `work`, which may communicate within the part of this rank and agrees on its errors there,
// and agrees on the outcome of all parts: an AgreedError of one part becomes one of all ranks of
// `comm`. Any other exception passes through, because the rest of its part waits for this rank
// (run_together.hpp). Collective.
template <class Work>
void collectively_in_parts(MPI_Comm comm, Work&& work) {
  std::exception_ptr error;
  try {
    std::forward<Work>(work)();
  } catch (const AgreedError&) {
    error = std::current_exception();
  }
  agree_on_error(comm, error);
}

}  // namespace trireme
