// SPDX-License-Identifier: BSD-3-Clause
// What a run must have in common with the one that it goes on from.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "app/kept/saved_run.hpp"
#include "config/case.hpp"
#include "io/problem.hpp"

namespace trireme {

// Fingerprints of the whole matrix (io/fingerprint.hpp).
struct MatrixIdentity {
  std::uint64_t pattern = 0, values = 0;
};
// Collective.
MatrixIdentity identity_of(MPI_Comm comm, const Problem& problem);

// Fingerprints of the system, and every setting that decides what the run comes to. Collective.
RunIdentity identity_of(MPI_Comm comm, const Case& c, const Problem& problem,
                        const MatrixIdentity& matrix);

// The same with the settings of `c` in place of those of the case that `identity` is of.
RunIdentity with_settings_of(const Case& c, RunIdentity identity);

}  // namespace trireme
