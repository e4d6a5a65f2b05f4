// SPDX-License-Identifier: BSD-3-Clause
// The file from which `solve --resume` goes on: <report.directory>/state.h5.
//
//   /x                     [rows, k]: solutions of the right-hand sides that were begun
//   /directions_<k>        [rows, 1 or 2] of a solve that was stopped: see StoppedSolve
//   /residual_history_<k>  of the same solve, relative to ||b||
//   /converged /iterations /reference /replacements /exact_from   one number per solve
//
// The attributes of the file say which run it belongs to: see RunIdentity.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "io/vectors.hpp"
#include "solvers/stopped_solve.hpp"

namespace trireme {

// One of the things that decide the result of a run.
struct RunPart {
  std::string name;     // "solver.rtol", "the matrix"
  std::string value;    // as text
  bool printed = true;  // false: messages leave the value out, as it is a fingerprint
};
using RunIdentity = std::vector<RunPart>;

struct SavedSolve {
  bool converged = false;
  solvers::StoppedSolve stopped;  // unless converged; its reference is relative to ||b||
  std::vector<double> history;    // relative to ||b||
};

struct SavedRun {
  std::int64_t solves_before = 0;  // in the rounds of `repeat` that are complete
  std::vector<SavedSolve> solves;  // of this round, one per right-hand side that was begun
};

class SavedRunFile {
 public:
  explicit SavedRunFile(const std::filesystem::path& directory) : path_(directory / "state.h5") {}

  // Throws Error{usage} where the file does not exist. Collective, as are the other functions.
  void require(MPI_Comm comm) const;
  // x: local rows of each solve's solution. Replaces the file once the new one is complete.
  void write(MPI_Comm comm, const RunIdentity& identity, const SavedRun& run, const RowRange& rows,
             std::span<const Array<double>> x) const;
  // Throws Error{usage} for the file of another run, and names the part that differs.
  SavedRun read(MPI_Comm comm, const RunIdentity& identity, const RowRange& rows,
                std::vector<Array<double>>& x) const;
  // Whether read() takes the file for the state of this run. Throws Error{usage} where it does not
  // exist. Collective.
  bool is_of(MPI_Comm comm, const RunIdentity& identity) const;
  void remove(MPI_Comm comm) const;

 private:
  SavedRun read_here(const RunIdentity& identity, const RowRange& rows,
                     std::vector<Array<double>>& x) const;

  std::filesystem::path path_;
};

}  // namespace trireme
