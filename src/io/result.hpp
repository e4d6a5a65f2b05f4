// SPDX-License-Identifier: BSD-3-Clause
// The result file: solution, history, kernel times, and what they belong to.
#pragma once

#include <mpi.h>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/vectors.hpp"

namespace trireme {

struct ResultFile {
  RowRange rows;
  std::span<const Array<double>> x;          // local rows of one or more solutions
  std::span<const double> residual_history;  // relative to ||b||, from iteration 0
  std::span<const double> kernel_time;       // microseconds of each product
  // Written as string attributes of the root: "case" (its text), "trireme", "petsc", "kernel",
  // "reason", ...
  std::vector<std::pair<std::string, std::string>> attributes;
};

// Writes /x, /residual_history, /kernel_time and the attributes; replaces a file of that name only
// once the new one is complete. Throws Error{usage} when the place cannot be written. Collective.
void write_result(MPI_Comm comm, const std::filesystem::path& path, const ResultFile& result);

// Version of the HDF5 library that runs: "1.10.8".
std::string hdf5_version();

}  // namespace trireme
