// SPDX-License-Identifier: BSD-3-Clause
// What the steps of a sequence bring: new values of the matrix, whole matrices, right-hand sides.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/steps.hpp"
#include "io/problem.hpp"
#include "io/read_matrix.hpp"
#include "io/vectors.hpp"

namespace trireme {

// This rank's part of what a step brings. What it does not name is empty.
struct StepData {
  std::optional<Array<double>> values;  // in the order of the slab that was read last
  double largest = 0;                   // of the magnitudes of `values`
  std::optional<MatrixOnRanks> matrix;  // whole, with the cuts of its own pattern
  std::optional<Array<double>> rhs;
  double seconds = 0;  // of reading on this rank
};

class StepReader {
 public:
  // This rank holds `rows` with `nnz` nonzeros of the matrix of the problem, in whose order values
  // are read until follow() names another one. in_stored_order: see MatrixOnRanks. Collective.
  StepReader(MPI_Comm comm, ProblemSpec spec, const RowRange& rows, std::int64_t nnz,
             bool in_stored_order);

  // The matrix and the right-hand side of `step`, checked as load_problem() checks them. Throws the
  // same Error{input} on every rank for missing data, other shapes, and NaN or infinity with its
  // position; Error{usage} where values are named and the order of the stored matrix is not known.
  // Collective.
  StepData read(const Step& step) const;
  // The same without communication, for a step that needs none, so that another thread can call it
  // while nothing else uses HDF5. Errors are those of this rank. The arrays of the result are those
  // of `spare`, where it has any.
  StepData read_alone(const Step& step, StepData&& spare = {}) const;
  bool can_be_read_alone(const Step& step) const;

  // Throws what reading the steps one after another would throw for missing data and other shapes,
  // without reading the numbers. Collective.
  void check(const std::vector<Step>& steps) const;

  // The matrix as it is in problem.file, or as the generator makes it. Collective.
  MatrixOnRanks read_first_matrix() const;
  // The values of later steps are in the order of `matrix`, which was read for `step` (null: the
  // matrix of the problem). Collective.
  void follow(const MatrixOnRanks& matrix, const Step* step);

 private:
  std::filesystem::path file_of(const Step& step) const;
  std::optional<VectorFile> b_of(const Step& step) const;  // the right-hand side that it reads
  void note_order(std::int64_t nnz, bool in_stored_order);
  void check(const Step& step, std::int64_t& stored) const;
  Array<double> read_values_with_pattern(const Step& step) const;
  Array<double> read_rhs(const VectorFile& b, const Step& step, const RowRange& rows) const;

  MPI_Comm comm_;
  ProblemSpec spec_;
  RowRange rows_;
  // Where the pattern is stored whose order the values have.
  std::filesystem::path pattern_file_;  // empty: the matrix is generated
  std::string pattern_;                 // group
  bool in_stored_order_ = false;        // this rank's values are contiguous in that order
  std::int64_t first_ = 0, count_ = 0;  // this rank's values
  std::int64_t stored_ = 0;             // values of all ranks
};

}  // namespace trireme
