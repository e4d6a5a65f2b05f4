// SPDX-License-Identifier: BSD-3-Clause
// A linear system as one rank holds it: read from a file of any format (formats.hpp) or generated.
// Collective functions, which throw the same Error on every rank: input for a fault of the file,
// usage for a fault of the spec.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/case.hpp"
#include "io/read_matrix.hpp"
#include "io/right_hand_side.hpp"
#include "io/system_source.hpp"
#include "sparse/csr.hpp"
#include "sparse/modes.hpp"

namespace trireme {

// Rows and vectors lie on the ranks by the same contiguous blocks, which are balanced by nonzeros.
// A rank may own no row. Columns ascend within each row, and none is stored twice.
struct Problem {
  std::string name;                      // problem_name(), for reports
  RowSlab matrix;                        // square
  std::vector<std::int64_t> row_starts;  // ranks + 1; rank r has [row_starts[r], row_starts[r+1])
  std::int64_t duplicates_summed = 0;    // stored entries that were added to another
  bool in_stored_order = false;          // see MatrixOnRanks
  bool none_above_usual = false;         // see MatrixOnRanks
  std::optional<EntryHashes> hashes;     // see MatrixOnRanks
  ChosenVectors chosen;                  // where b and x0 come from
  std::vector<Array<double>> rhs;        // one or more right-hand sides, local rows of each
  std::optional<Array<double>> x0;       // the initial guess, local rows
  std::vector<Array<double>> x_exact;    // empty, or one per right-hand side
  Modes modes;                           // of whole nodes; without ProblemSpec::with_modes none
  std::int64_t rows_together = 1;        // which divides all of row_starts but the last one
  double read_seconds = 0;               // duration of load_problem()
  double check_seconds = 0;              // part of it: MatrixOnRanks::check_seconds
};

// Reads or makes the matrix and the vectors, and checks every rule of docs/file-formats.md.
// What is made for b: ones, random (a hash of the row number), or from-ones (b = A 1, so that
// x_exact = 1).
// `sink`, which may be null, takes the entries of the matrix where the source can pass them on.
// `before_reading` is called on every rank with what the source says of the matrix, before memory
// is allocated for it (a source that holds whole files in memory has read by then).
using BeforeReading = std::function<void(const MatrixFacts& facts)>;
Problem load_problem(MPI_Comm comm, const ProblemSpec& spec, EntriesSink* sink = nullptr,
                     const BeforeReading& before_reading = {});

// Opens a file of any format, of which a system is read. Collective.
std::unique_ptr<SystemSource> open_system(MPI_Comm comm, const SystemFile& system);

// Reads or makes the matrix alone, which may be rectangular.
MatrixOnRanks load_matrix(MPI_Comm comm, const ProblemSpec& spec);

// "cant.h5:/A", "cant.mtx.gz" or "poisson3d, n = 128". Reads the first bytes of the file, which
// tell its format. Throws nothing where the file cannot be read.
std::string problem_name(const ProblemSpec& spec);

}  // namespace trireme
