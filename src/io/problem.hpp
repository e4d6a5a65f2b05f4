// SPDX-License-Identifier: BSD-3-Clause
// A linear system as one rank holds it: read from HDF5 or generated. Collective functions.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/case.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Rows and vectors share one contiguous row distribution, balanced by nonzeros.
struct Problem {
  std::string name;                       // for reports
  RowSlab matrix;
  std::vector<std::int64_t> row_starts;   // ranks + 1: rank r holds rows [row_starts[r], [r+1])
  std::vector<Array<double>> rhs;         // one or more right-hand sides, local rows each
  std::optional<Array<double>> x0;
  std::vector<Array<double>> x_exact;     // empty, or one for each right-hand side
  double read_seconds = 0;
};

// Reads (or generates) this rank's rows and checks them: every rule of DESIGN section 5.
// Throws the same Error on every rank: input for what is wrong in a file, usage for a bad spec.
Problem load_problem(MPI_Comm comm, const ProblemSpec& spec);

}  // namespace trireme
