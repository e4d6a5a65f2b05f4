// SPDX-License-Identifier: BSD-3-Clause
// Scaling a matrix whose values are the numbers of its entries tells where each entry goes.
#include "distributed/scaling/scaled_values.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "distributed/scaling/ghost_numbers.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// Powers of two; docs/sequences.md has figures.
constexpr float kMostChange = 3;
constexpr float kMostSize = 200;  // of the largest magnitude of all
// Beyond the logarithms of all numbers.
constexpr float kOfNothing = -4000, kOfInfinity = 4000;

float log2_of(double value) {
  if (value == 0) return kOfNothing;
  return std::isfinite(value) ? static_cast<float>(std::log2(std::abs(value))) : kOfInfinity;
}

Array<float> log2_of(const Array<double>& values) {
  Array<float> result(values.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = log2_of(values[i]);
  return result;
}

// Of its values, the numbers of the entries: the local ones first, then those of ghosts.
DistributedMatrix numbered_entries(const DistributedMatrix& matrix) {
  DistributedMatrix numbered = matrix;
  numbered.on_device.reset();
  Array<double>& local = numbered.blocks.local.values;
  Array<double>& ghost = numbered.blocks.ghost.values;
  std::iota(local.begin(), local.end(), 0.0);
  std::iota(ghost.begin(), ghost.end(), static_cast<double>(local.size()));
  return numbered;
}

Array<std::int64_t> as_numbers(const Array<double>& values) {
  Array<std::int64_t> numbers(values.size());
  for (std::size_t k = 0; k < numbers.size(); ++k)
    numbers[k] = static_cast<std::int64_t>(values[k]);
  return numbers;
}

}  // namespace

ScaledValues::ScaledValues(const DistributedMatrix& matrix, const SystemScaling& scaling)
    : matrix_(matrix), scaling_(scaling) {
  GhostNumbers of_others(matrix);
  const Array<double> columns(scaling.columns.begin(), scaling.columns.end());
  const std::span<const double> ghosts = of_others.of_owners(columns);
  ghost_columns_.assign(ghosts.begin(), ghosts.end());
  if (!any_rank(matrix.comm, !scaling.places.empty() || scaling.moved)) return;
  DistributedMatrix numbered;
  SystemScaling order = scaling;
  collectively(matrix.comm, [&] {
    numbered = numbered_entries(matrix);
    std::ranges::fill(order.rows, 0);
    std::ranges::fill(order.columns, 0);
  });
  const auto moved = scaled_matrix(numbered, order);
  collectively(matrix.comm, [&] {
    const SplitRows& blocks = moved->blocks;
    local_sources_ = as_numbers(blocks.local.values);
    ghost_sources_ = as_numbers(blocks.ghost.values);
  });
}

// One block of the copy. largest[i] = the larger of itself and the largest magnitude of its row i.
void ScaledValues::fill(CsrMatrix<double>& block, std::int64_t first_source,
                        std::span<const std::int64_t> sources, std::span<double> largest) const {
  const CsrMatrix<double>&local = matrix_.blocks.local, &ghost = matrix_.blocks.ghost;
  const std::int64_t in_local = local.nnz();
  for (const RowBlock<double>& rows : block.blocks()) {
    const std::int64_t first = rows.first_entry;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.csr.rows; ++i) {
      const std::int64_t row = rows.first_row + i;
      double most = largest[row];
      for (std::int64_t k = first + rows.csr.row_ptr[i]; k < first + rows.csr.row_ptr[i + 1]; ++k) {
        const std::int64_t source = sources.empty() ? first_source + k : sources[k];
        const bool is_local = source < in_local;
        const CsrMatrix<double>& from = is_local ? local : ghost;
        const std::int64_t at = is_local ? source : source - in_local;
        const std::int32_t column = from.col_idx[at];
        const int exponent =
            is_local ? scaling_.columns[column] : static_cast<int>(ghost_columns_[column]);
        const double value = std::ldexp(from.values[at], scaling_.rows[row] + exponent);
        most = std::max(most, std::abs(value));
        block.values[k] = value;
      }
      largest[row] = most;
    }
  }
}

bool ScaledValues::still_serves(const Sizes& now) const {
  struct {
    float most_growth = kOfNothing, most_shrinking = kOfNothing;  // of the sizes of rows
    float largest = kOfNothing;
    float poor_rows = 0;  // 1: there are some
  } seen;
  for (std::size_t i = 0; i < now.largest.size(); ++i) {
    const float largest = now.largest[i], then = found_->largest[i];
    const float diagonal = now.diagonal[i], diagonal_then = found_->diagonal[i];
    seen.largest = std::max(seen.largest, largest);
    if ((largest == kOfNothing) != (then == kOfNothing)) seen.poor_rows = 1;
    if (largest == kOfNothing || then == kOfNothing) continue;
    seen.most_growth = std::max(seen.most_growth, largest - then);
    seen.most_shrinking = std::max(seen.most_shrinking, then - largest);
    if (diagonal_then != kOfNothing && (largest - diagonal) - (then - diagonal_then) > kMostChange)
      seen.poor_rows = 1;
  }
  MPI_Allreduce(MPI_IN_PLACE, &seen, 4, MPI_FLOAT, MPI_MAX, matrix_.comm);
  if (seen.poor_rows != 0) return false;
  if (seen.largest == kOfNothing) return true;
  return std::abs(seen.largest) <= kMostSize &&
         seen.most_growth + seen.most_shrinking <= kMostChange;
}

bool ScaledValues::take(DistributedMatrix& scaled) {
  Sizes now;
  collectively(matrix_.comm, [&] {
    Array<double> largest(static_cast<std::size_t>(scaled.local_rows()), 0.0);
    fill(scaled.blocks.local, 0, local_sources_, largest);
    fill(scaled.blocks.ghost, matrix_.blocks.local.nnz(), ghost_sources_, largest);
    now.largest = log2_of(largest);
    scaled.diagonal(largest);
    now.diagonal = log2_of(largest);
  });
  ++scaled.values_version;
  if (found_) return still_serves(now);
  found_ = std::move(now);
  return true;
}

}  // namespace trireme
