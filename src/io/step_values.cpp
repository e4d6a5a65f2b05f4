// SPDX-License-Identifier: BSD-3-Clause
// Reads values in the order in which the matrix is stored; where that is not the order of the slab,
// the pattern is read with them.
#include "io/step_values.hpp"

#include <fmt/ranges.h>

#include <cmath>
#include <mutex>
#include <utility>

#include "base/stopwatch.hpp"
#include "io/canonical_rows.hpp"
#include "io/formats.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_input.hpp"
#include "io/stored_matrix.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// The largest magnitude; NaN where a value is NaN or infinite.
double largest_magnitude(std::span<const double> values) {
  double largest = 0, poison = 0;  // 0 * value is 0 only where the value is finite
#pragma omp simd reduction(max : largest) reduction(+ : poison)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double magnitude = std::abs(values[i]);
    largest = largest < magnitude ? magnitude : largest;
    poison += 0 * magnitude;
  }
  return largest + poison;
}

// Reads the numbers from position `first` on, of the dataset or (row >= 0) of one of its rows, and
// returns their largest magnitude. Throws Error{input} for NaN and infinity.
double read_part(const hdf5::Dataset& dataset, std::int64_t row, std::int64_t first,
                 std::span<double> into) {
  std::mutex mutex;
  double largest = 0;
  const auto look = [&](std::int64_t, std::span<const double> numbers) {
    const double here = largest_magnitude(numbers);
    const std::lock_guard lock(mutex);
    if (!(here <= largest)) largest = std::isnan(largest) ? largest : here;
  };
  if (row < 0)
    dataset.read(first, std::ssize(into), into.data(), look);
  else
    dataset.read_in_row(row, first, std::ssize(into), into.data(), look);
  if (std::isfinite(largest)) return largest;
  const auto bad = first_not_finite(into);
  fail(ExitCode::input, "{}[{}{}] = {}; values must be finite", dataset.name(),
       row < 0 ? "" : fmt::format("{}, ", row), first + *bad, into[*bad]);
}

hdf5::Dataset open_numbers(const hdf5::File& file, const std::string& path) {
  if (!file.has_dataset(path))
    fail(ExitCode::input, "{}: no dataset {}; at the top level there are: /{}",
         file.name().substr(0, file.name().find(": /")), path, fmt::join(file.datasets(), ", /"));
  hdf5::Dataset dataset = file.dataset(path);
  dataset.require_numbers();
  return dataset;
}

// The row that belongs to the step in a dataset [steps, length], or -1 for a dataset [length].
// `what` says what is counted: "the matrix has 12 nonzeros".
std::int64_t row_in(const hdf5::Dataset& dataset, const Step& step, std::int64_t length,
                    const std::string& what) {
  const auto& extents = dataset.extents();
  if (extents.size() == 1 && extents[0] == length) return -1;
  const bool rows = step.row >= 0 && extents.size() == 2 && extents[1] == length;
  if (!rows)
    fail(ExitCode::input, "{} has the shape [{}]; {}, so [{}]{} is needed", dataset.name(),
         fmt::join(extents, ", "), what, length,
         step.row < 0 ? "" : fmt::format(" or [steps, {}]", length));
  if (step.row >= extents[0])
    fail(ExitCode::input, "{} has {} rows, counted from 0, and no row {}", dataset.name(),
         extents[0], step.row);
  return step.row;
}

std::string nonzeros(std::int64_t count) {
  return fmt::format("the matrix has {} nonzeros as it is stored", count);
}
std::string of_rows(std::int64_t count) { return fmt::format("the matrix has {} rows", count); }

// The result has the memory of `vector`.
Array<double> read_vector(const hdf5::File& file, const std::string& name, const Step& step,
                          const RowRange& rows, Array<double> vector = {}) {
  const hdf5::Dataset dataset = open_numbers(file, name);
  const std::int64_t row = row_in(dataset, step, rows.global, of_rows(rows.global));
  vector.resize(rows.count);
  read_part(dataset, row, rows.first, vector);
  return vector;
}

Array<double> taken(std::optional<Array<double>>& array) {
  return array ? std::move(*array) : Array<double>();
}

}  // namespace

StepReader::StepReader(MPI_Comm comm, ProblemSpec spec, const RowRange& rows, std::int64_t nnz,
                       bool in_stored_order)
    : comm_(comm), spec_(std::move(spec)), rows_(rows) {
  if (const auto* system = std::get_if<SystemFile>(&spec_.source)) {
    pattern_file_ = system->file;
    pattern_ = system->matrix;
  }
  note_order(nnz, in_stored_order);
}

void StepReader::note_order(std::int64_t nnz, bool in_stored_order) {
  in_stored_order_ = in_stored_order;
  count_ = nnz;
  stored_ = sum_over_ranks(comm_, nnz);
  first_ = 0;
  MPI_Exscan(&count_, &first_, 1, MPI_INT64_T, MPI_SUM, comm_);
  if (rank_of(comm_) == 0) first_ = 0;
}

void StepReader::follow(const MatrixOnRanks& matrix, const Step* step) {
  const auto* system = std::get_if<SystemFile>(&spec_.source);
  pattern_file_ = step ? file_of(*step) : system ? system->file : std::filesystem::path();
  pattern_ = step ? step->matrix : system ? system->matrix : "";
  rows_ = {matrix.slab.first_row, matrix.slab.local.rows, matrix.slab.global_rows};
  note_order(matrix.slab.local.nnz(), matrix.in_stored_order);
}

std::filesystem::path StepReader::file_of(const Step& step) const {
  if (!step.file.empty()) return step.file;
  const auto* system = std::get_if<SystemFile>(&spec_.source);
  return system ? system->file : std::filesystem::path();
}

std::optional<VectorFile> StepReader::b_of(const Step& step) const {
  if (!step.rhs) return std::nullopt;
  if (const auto* dataset = std::get_if<Dataset>(&*step.rhs))
    return VectorFile{.file = file_of(step), .name = dataset->name};
  const auto* vectors = std::get_if<VectorFile>(&*step.rhs);
  return vectors ? std::optional(*vectors) : std::nullopt;
}

MatrixOnRanks StepReader::read_first_matrix() const { return load_matrix(comm_, spec_); }

bool StepReader::can_be_read_alone(const Step& step) const {
  if (!step.matrix.empty()) return false;
  if (!step.values.empty() && !in_stored_order_) return false;
  const std::optional<VectorFile> b = b_of(step);
  return !b || is_hdf5(b->file);
}

StepData StepReader::read_alone(const Step& step, StepData&& spare) const {
  const Stopwatch watch;
  StepData data;
  if (!step.values.empty()) {
    const hdf5::Dataset dataset = open_numbers(hdf5::File::open(file_of(step)), step.values);
    const std::int64_t row = row_in(dataset, step, stored_, nonzeros(stored_));
    data.values = taken(spare.values);
    data.values->resize(count_);
    data.largest = read_part(dataset, row, first_, *data.values);
  }
  if (const auto b = b_of(step))
    data.rhs = read_vector(hdf5::File::open(b->file), b->name, step, rows_, taken(spare.rhs));
  data.seconds = watch.seconds();
  return data;
}

StepData StepReader::read(const Step& step) const {
  StepData data;
  int alone = 0;
  collectively(comm_, [&] { alone = can_be_read_alone(step) ? 1 : 0; });
  MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MIN, comm_);
  if (alone == 1) {
    collectively(comm_, [&] { data = read_alone(step); });
    return data;
  }
  const Stopwatch watch;
  const SystemFile system{.file = file_of(step),
                          .matrix = step.matrix.empty() ? "/A" : step.matrix,
                          .x0 = {},
                          .x_exact = {}};
  RowRange rows = rows_;
  if (!step.matrix.empty()) {
    data.matrix = open_system(comm_, system)->read_matrix(step.matrix, spec_.rows_together);
    const RowSlab& slab = data.matrix->slab;
    collectively(comm_, [&] {
      if (slab.global_rows != rows_.global || slab.global_cols != rows_.global)
        fail(ExitCode::input, "{}:{} is {} x {}; the matrices before have {} rows and columns",
             system.file.string(), step.matrix, slab.global_rows, slab.global_cols, rows_.global);
    });
    rows = {slab.first_row, slab.local.rows, slab.global_rows};
  } else if (!step.values.empty()) {
    data.values = read_values_with_pattern(step);
    data.largest = largest_magnitude(*data.values);
  }
  if (const auto b = b_of(step)) data.rhs = read_rhs(*b, step, rows);
  data.seconds = watch.seconds();
  return data;
}

// The reader of the matrix brings the values into the order of the slab.
Array<double> StepReader::read_values_with_pattern(const Step& step) const {
  StoredMatrix stored;
  collectively(comm_, [&] {
    if (!is_hdf5(pattern_file_))
      fail(ExitCode::usage,
           "{}: values need an HDF5 matrix, which keeps the order of its nonzeros; convert the "
           "matrix by problem import, or name a whole matrix per step",
           pattern_file_.string());
    stored = find_matrix(hdf5::File::open(pattern_file_), pattern_);
    stored.values = open_numbers(hdf5::File::open(file_of(step)), step.values);
    if (row_in(stored.values, step, stored.nnz, nonzeros(stored.nnz)) >= 0)
      fail(ExitCode::input,
           "{} has a row per step, which needs a matrix by rows whose columns ascend; write one "
           "dataset per step",
           stored.values.name());
  });
  stored.rows_together = spec_.rows_together;
  return std::move(trireme::read_matrix(comm_, stored).slab.local.values);
}

Array<double> StepReader::read_rhs(const VectorFile& b, const Step& step,
                                   const RowRange& rows) const {
  Array<double> rhs;
  int in_hdf5 = 0;
  collectively(comm_, [&] {
    in_hdf5 = is_hdf5(b.file) ? 1 : 0;
    if (in_hdf5 == 1) rhs = read_vector(hdf5::File::open(b.file), b.name, step, rows);
  });
  MPI_Allreduce(MPI_IN_PLACE, &in_hdf5, 1, MPI_INT, MPI_MIN, comm_);
  if (in_hdf5 == 1) return rhs;
  std::vector<Array<double>> vectors = open_vectors(comm_, b.file)->read_vectors(b.name, rows);
  collectively(comm_, [&] {
    if (vectors.size() != 1)
      fail(ExitCode::input, "{} holds {} vectors; a step has one right-hand side", b.file.string(),
           vectors.size());
  });
  return std::move(vectors.front());
}

void StepReader::check(const std::vector<Step>& steps) const {
  collectively(comm_, [&] {
    if (rank_of(comm_) != 0) return;
    std::int64_t stored = stored_;
    if (!in_stored_order_ && is_hdf5(pattern_file_))
      stored = find_matrix(hdf5::File::open(pattern_file_), pattern_).nnz;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      try {
        check(steps[k], stored);
      } catch (const Error& error) {
        fail(error.code(), "step {}: {}", k, error.what());
      }
    }
  });
}

// `stored`: the number of values in the order of which the step's values are.
void StepReader::check(const Step& step, std::int64_t& stored) const {
  if (const auto b = b_of(step)) {
    if (!std::filesystem::exists(b->file))
      fail(ExitCode::input, "{}: no such file", b->file.string());
    if (is_hdf5(b->file))
      row_in(open_numbers(hdf5::File::open(b->file), b->name), step, rows_.global,
             of_rows(rows_.global));
  }
  if (step.matrix.empty() && step.values.empty()) return;
  if (!is_hdf5(file_of(step)) && std::filesystem::exists(file_of(step))) return;
  const hdf5::File file = hdf5::File::open(file_of(step));
  if (!step.matrix.empty()) {
    const StoredMatrix matrix = find_matrix(file, step.matrix);
    if (matrix.rows != rows_.global || matrix.cols != rows_.global)
      fail(ExitCode::input, "{} is {} x {}; the matrix of the problem has {} rows and columns",
           matrix.name, matrix.rows, matrix.cols, rows_.global);
    stored = matrix.nnz;
  }
  if (!step.values.empty()) row_in(open_numbers(file, step.values), step, stored, nonzeros(stored));
}

}  // namespace trireme
