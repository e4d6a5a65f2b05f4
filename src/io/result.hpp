// SPDX-License-Identifier: BSD-3-Clause
// The result file: solutions, residual history, product times, and the attributes of the run.
#pragma once

#include <mpi.h>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/output_file.hpp"
#include "io/vectors.hpp"

namespace trireme {

struct ResultFile {
  RowRange rows;
  std::span<const Array<double>> x;          // one or more solutions, this rank's rows of each
  std::span<const double> residual_history;  // relative to ||b||, from iteration 0
  std::span<const double> kernel_time;       // microseconds of each product
  // String attributes of the root group: name ("case", "trireme", "kernel", "reason", ...) and
  // text.
  std::vector<std::pair<std::string, std::string>> attributes;
};

// Writes /x, /residual_history, /kernel_time and the attributes. Replaces a file of that name only
// when the new one is complete. Throws Error{usage} where the file cannot be created,
// Error{resource} where the disk does not take it. Collective.
void write_result(MPI_Comm comm, const std::filesystem::path& path, const ResultFile& result);

// Writes the rest of a file that holds /x already, and commits it. Collective.
void complete_result(OutputFile& file, const ResultFile& result);

// The version of the loaded HDF5 library, such as "1.10.8".
std::string hdf5_version();

}  // namespace trireme
