// SPDX-License-Identifier: BSD-3-Clause
// The files that a run leaves beside its reports.
#pragma once

#include <mpi.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "app/run_kernel.hpp"
#include "config/case.hpp"
#include "io/output_file.hpp"
#include "io/vectors.hpp"

namespace trireme {

// Makes the folder where it is missing. Collective.
void make_directory(MPI_Comm comm, const std::filesystem::path& folder);

// Writes the solutions with what they are the solutions of: solution.h5, or solution-<kernel>.h5
// (-mixed in mixed precision) where runs are compared, in the report directory. Where `by_step` is
// given, that file holds the solutions of a sequence already, and it is completed under this name.
// Collective.
void write_solution(MPI_Comm comm, const Case& c, const KernelRun& run, const RowRange& rows,
                    bool compared, std::unique_ptr<OutputFile> by_step);

// Every file that run_case() may write.
std::vector<std::filesystem::path> files_of_run(const Case& c);

}  // namespace trireme
