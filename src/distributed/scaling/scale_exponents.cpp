// SPDX-License-Identifier: BSD-3-Clause
// Sweeps over the logarithms of the magnitudes, which are taken once.
#include "distributed/scaling/scale_exponents.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "distributed/scaling/ghost_numbers.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr double kOfZero = -std::numeric_limits<double>::infinity();  // log2 of 0

// FP32 has the digits that exponents need.
Array<float> logarithms(const CsrMatrix<double>& a) {
  Array<float> result(a.values.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < result.size(); ++k)
    result[k] = static_cast<float>(std::log2(std::abs(a.values[k])));
  return result;
}

// largest[i] = the largest one of itself and of the logarithms of row i, after scaling.
void take_largest_of_rows(const CsrMatrix<double>& a, std::span<const float> log2,
                          std::span<const double> rows, std::span<const double> columns,
                          std::span<double> largest) {
  for (const RowBlock<double>& block : a.blocks()) {
    const CsrView<double>& part = block.csr;
    const float* const of_block = log2.data() + block.first_entry;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < part.rows; ++i) {
      double most = kOfZero;
      for (std::int32_t k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k)
        most = std::max(most, static_cast<double>(of_block[k]) + columns[part.col_idx[k]]);
      double& of_row = largest[block.first_row + i];
      of_row = std::max(of_row, most + rows[block.first_row + i]);
    }
  }
}

void take_largest_of_columns(const CsrMatrix<double>& a, std::span<const float> log2,
                             std::span<const double> rows, std::span<const double> columns,
                             std::span<double> largest) {
  for (const RowBlock<double>& block : a.blocks()) {
    const CsrView<double>& part = block.csr;
    const float* const of_block = log2.data() + block.first_entry;
    for (std::int64_t i = 0; i < part.rows; ++i)
      for (std::int32_t k = part.row_ptr[i]; k < part.row_ptr[i + 1]; ++k) {
        double& of_column = largest[part.col_idx[k]];
        of_column = std::max(of_column, static_cast<double>(of_block[k]) +
                                            rows[block.first_row + i] + columns[part.col_idx[k]]);
      }
  }
}

// How far the largest magnitudes are from 1.
double distance_from_one(std::span<const double> largest) {
  double distance = 0;
  for (const double log2 : largest)
    if (log2 != kOfZero) distance = std::max(distance, std::abs(log2));
  return distance;
}

void halve(std::span<const double> largest, std::span<double> exponents) {
  for (std::size_t i = 0; i < largest.size(); ++i)
    if (largest[i] != kOfZero) exponents[i] -= largest[i] / 2;
}

}  // namespace

ScaleExponents exponents_of_diagonal(const DistributedMatrix& matrix) {
  Array<double> diagonal(matrix.local_rows());
  matrix.diagonal(diagonal);
  const auto row_of = [](const CsrMatrix<double>& a, std::int64_t i) {
    double largest = 0;
    for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
      largest = std::max(largest, std::abs(a.values[k]));
    return largest;
  };
  ScaleExponents found{.rows = Array<double>(diagonal.size()), .columns = {}};
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    const auto i = static_cast<std::int64_t>(k);
    double size = std::abs(diagonal[k]);
    if (size == 0) size = std::max(row_of(matrix.blocks.local, i), row_of(matrix.blocks.ghost, i));
    found.rows[k] = size > 0 ? -std::log2(size) / 2 : 0;
  }
  found.columns = found.rows;
  return found;
}

ScaleExponents equilibrated(const DistributedMatrix& matrix, bool symmetric, ScaleExponents begin) {
  constexpr int kSweeps = 20;
  constexpr double kNearOne = 0.5;
  const CsrMatrix<double>&local = matrix.blocks.local, &ghost = matrix.blocks.ghost;
  const Array<float> of_local = logarithms(local), of_ghosts = logarithms(ghost);
  GhostNumbers columns_of_others(matrix);
  ScaleExponents& now = begin;
  Array<double> rows(matrix.local_rows()), columns(matrix.local_rows());
  Array<double> ghost_columns(matrix.halo.ghosts);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const std::span<const double> ghosts = columns_of_others.of_owners(now.columns);
    std::ranges::fill(rows, kOfZero);
    take_largest_of_rows(local, of_local, now.rows, now.columns, rows);
    take_largest_of_rows(ghost, of_ghosts, now.rows, ghosts, rows);
    if (!symmetric) {
      std::ranges::fill(columns, kOfZero);
      std::ranges::fill(ghost_columns, kOfZero);
      take_largest_of_columns(local, of_local, now.rows, now.columns, columns);
      take_largest_of_columns(ghost, of_ghosts, now.rows, ghosts, ghost_columns);
      columns_of_others.take_largest(ghost_columns, columns);
    }
    const double here =
        std::max(distance_from_one(rows), symmetric ? 0 : distance_from_one(columns));
    if (max_over_ranks(matrix.comm, here) <= kNearOne) break;
    halve(rows, now.rows);
    if (symmetric)
      now.columns = now.rows;
    else
      halve(columns, now.columns);
  }
  return begin;
}

}  // namespace trireme
