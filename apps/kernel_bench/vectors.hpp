// SPDX-License-Identifier: BSD-3-Clause
// kernel_bench --vectors N: one product of N vectors side by side against N products of one vector.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernel_bench/measurement.hpp"
#include "sparse/csr.hpp"

namespace trireme::bench {

struct VectorsMeasurement {
  std::string kernel, device, precision;
  std::int64_t rows = 0, cols = 0, nnz = 0, vectors = 0;
  double build_ms = 0;
  double singles_us = 0;  // median of N products of one vector each
  // Median of one product of N vectors; empty where the kernel multiplies one vector only.
  std::optional<double> together_us = {};
  std::int64_t bytes = 0;        // stored by the layout
  std::int64_t moved_bytes = 0;  // the layout, X and Y once each
  double max_error = 0;          // as in Measurement, over all vectors
  std::int64_t worst_row = 0, worst_vector = 0;

  bool correct() const { return max_error <= 1; }  // NaN is not correct
  double gbytes_per_s() const {
    return together_us ? 1e-3 * static_cast<double>(moved_bytes) / *together_us : 0;
  }
};

struct VectorsResults {
  Bandwidth bandwidth;
  std::vector<VectorsMeasurement> rows;
  std::vector<std::string> skipped = {};  // as in Results

  // The kernel whose N products of one vector take the least time; null where nothing was measured.
  const VectorsMeasurement* best_singles() const;
};

// Checks each kernel and measures it. Throws as measure_host() does.
VectorsResults measure_vectors_host(const CsrMatrix<double>& matrix, const Options& options);

// The same on the GPU of this process. A library that also takes vectors one after the other has a
// second row, whose name ends with " cols". Throws as measure_cuda() does.
VectorsResults measure_vectors_cuda(const CsrMatrix<double>& matrix, const Options& options);

// A table, which is at most 100 characters wide. `matrix` is the name of the matrix.
std::string format_vectors_table(const VectorsResults& results, const std::string& matrix);

// Writes an array with one object per kernel (docs/several-vectors.md). Throws Error{usage} when
// the file cannot be written.
void write_vectors_json(const VectorsResults& results, const std::filesystem::path& file);

// One line per kernel whose product was wrong; empty where all products were right.
std::string format_vectors_failures(const VectorsResults& results);

}  // namespace trireme::bench
