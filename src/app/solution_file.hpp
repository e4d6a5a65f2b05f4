// SPDX-License-Identifier: BSD-3-Clause
// The files that a run leaves beside its reports.
#pragma once

#include <mpi.h>

#include <filesystem>
#include <vector>

#include "app/run_kernel.hpp"
#include "config/case.hpp"
#include "io/vectors.hpp"

namespace trireme {

// Writes solution.h5, or solution-<kernel>.h5 (-mixed in mixed precision) where runs are compared,
// into the report directory, which is made when it is missing. Collective.
void write_solution(MPI_Comm comm, const Case& c, const KernelRun& run, const RowRange& rows,
                    bool compared);

// Every file that run_case() may write.
std::vector<std::filesystem::path> files_of_run(const Case& c);

}  // namespace trireme
