// SPDX-License-Identifier: BSD-3-Clause
// What compares the runs of a case: with the memory's bandwidth, with plain csr, and with double
// precision.
#pragma once

#include <memory>
#include <vector>

#include "distributed/distributed_matrix.hpp"
#include "kernels/registry.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Whether the matrix is large enough for memory bandwidth to be a yardstick: smaller ones fit into
// caches.
bool bandwidth_matters(const ProblemDescription& problem);

// Measures the memory of the machine and gives each run the part of it that its products reached.
// The arrays of the measurement count as peak memory, so this comes last. Collective.
void compare_with_bandwidth(MPI_Comm comm, CaseOutcome& outcome);

// Measures the caches instead, by arrays that together are as large as the matrix: those of the
// CPUs and of the GPUs, where a run used them. Collective.
void measure_in_cache(MPI_Comm comm, CaseOutcome& outcome);

// Gives each run the number of products after which its kernel has paid for its preprocessing,
// against plain csr: that of the case, or else one that is built and timed here. Collective.
void compare_with_baseline(std::vector<RunOutcome>& runs,
                           const std::shared_ptr<DistributedMatrix>& matrix);

// Notes what mixed precision gained over double, where a case has both, or how to find out.
void compare_precisions(std::vector<RunOutcome>& runs);

}  // namespace trireme
