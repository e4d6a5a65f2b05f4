// SPDX-License-Identifier: BSD-3-Clause
// Reads vectors in pieces, and makes those that need no file.
#include "io/vectors.hpp"

#include "base/split_mix.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "io/canonical_rows.hpp"
#include "io/require_memory.hpp"

namespace trireme {
namespace {

hdf5::Dataset open_vectors(const hdf5::File& file, const std::string& path) {
  if (!file.has_dataset(path)) {
    const std::vector<std::string> there = file.datasets();
    fail(ExitCode::input, "{}: no dataset {}; {}", file.name().substr(0, file.name().find(": /")),
         path,
         there.empty() ? "for a right-hand side without one: ones, random or from-ones"
                       : fmt::format("at the top level there are: /{}", fmt::join(there, ", /")));
  }
  hdf5::Dataset dataset = file.dataset(path);
  dataset.require_numbers();
  return dataset;
}

// Reads the shape [rows, k]. The rows of this rank are one slab, which is read in pieces, so that
// no second copy of all exists.
std::vector<Array<double>> read_columns(const hdf5::Dataset& dataset, const RowRange& rows,
                                        std::int64_t k) {
  std::vector<Array<double>> vectors;
  for (std::int64_t j = 0; j < k; ++j) vectors.emplace_back(rows.count);
  if (k == 1) {
    dataset.read(rows.first, rows.count, vectors[0].data());
    return vectors;
  }
  dataset.stream<double>(rows.first, rows.count,
                         [&](std::int64_t at, std::span<const double> block) {
                           for (std::int64_t i = 0; i * k < std::ssize(block); ++i)
                             for (std::int64_t j = 0; j < k; ++j)
                               vectors[j][at / k + i] = block[i * k + j];
                         });
  return vectors;
}

// Reads MATLAB's shape [k, rows]: whole vectors, one after another.
std::vector<Array<double>> read_rows(const hdf5::Dataset& dataset, const RowRange& rows,
                                     std::int64_t k) {
  std::vector<Array<double>> vectors;
  Array<double> whole(rows.global);
  for (std::int64_t j = 0; j < k; ++j) {
    dataset.read(j, 1, whole.data());
    vectors.emplace_back(whole.begin() + rows.first, whole.begin() + rows.first + rows.count);
  }
  return vectors;
}

}  // namespace

VectorShape shape_of_vectors(const hdf5::File& file, const std::string& path) {
  const hdf5::Dataset dataset = open_vectors(file, path);
  const std::vector<std::int64_t>& extents = dataset.extents();
  if (extents.size() == 1) return {extents[0], 1};
  if (extents.size() != 2)
    fail(ExitCode::input, "{} has {} dimensions; one or two are needed", dataset.name(),
         extents.size());
  const bool across = dataset.has_attribute("MATLAB_class") && extents[1] != 1;
  return across ? VectorShape{extents[1], extents[0]} : VectorShape{extents[0], extents[1]};
}

std::vector<Array<double>> read_vectors(const hdf5::File& file, const std::string& path,
                                        const RowRange& rows) {
  const hdf5::Dataset dataset = open_vectors(file, path);
  const std::vector<std::int64_t>& extents = dataset.extents();
  const bool two = extents.size() == 2;
  const bool matlab = two && dataset.has_attribute("MATLAB_class");
  if (two) {
    const double columns = static_cast<double>(extents[0] == rows.global ? extents[1] : extents[0]);
    require_memory(dataset.name(),
                   columns * (8.0 * static_cast<double>(rows.count) + sizeof(Array<double>)));
  }
  std::vector<Array<double>> vectors;
  if (matlab && extents[1] == rows.global)
    vectors = read_rows(dataset, rows, extents[0]);
  else if (matlab && !(extents[0] == rows.global && extents[1] == 1))
    fail(ExitCode::input, "{} is {} x {} in MATLAB; the matrix has {} rows, so {} x k is needed",
         dataset.name(), extents[1], extents[0], rows.global, rows.global);
  else if ((two || extents.size() == 1) && extents[0] == rows.global)
    vectors = read_columns(dataset, rows, two ? extents[1] : 1);
  else
    fail(ExitCode::input,
         "{} has the shape [{}]; the matrix has {} rows, so [{}] or [{}, k] is needed",
         dataset.name(), fmt::join(extents, ", "), rows.global, rows.global, rows.global);
  if (vectors.empty()) fail(ExitCode::input, "{} holds no vector", dataset.name());

  for (const Array<double>& vector : vectors)
    if (const auto bad = first_not_finite(vector))
      fail(ExitCode::input, "{} has {} in row {}; values must be finite", dataset.name(),
           vector[*bad], rows.first + *bad);
  return vectors;
}

Array<double> random_vector(const RowRange& rows, std::uint64_t seed) {
  Array<double> vector(rows.count);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::uint64_t bits = split_mix(static_cast<std::uint64_t>(rows.first + i), seed);
    vector[i] = 2 * to_unit(bits) - 1 + 0x1p-53;
  }
  return vector;
}

Array<double> constant_vector(std::int64_t rows, double value) {
  Array<double> vector(rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) vector[i] = value;
  return vector;
}

Array<double> row_sums(const CsrMatrix<double>& matrix) {
  Array<double> sums(matrix.rows);
  for (const RowBlock<double>& block : matrix.blocks()) {
    const CsrView<double>& a = block.csr;
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a.rows; ++row) {
      double sum = 0;
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) sum += a.values[k];
      sums[block.first_row + row] = sum;
    }
  }
  return sums;
}

}  // namespace trireme
