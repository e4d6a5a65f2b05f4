// SPDX-License-Identifier: BSD-3-Clause
// The pass that every look takes, and the one that a matrix takes which is not exactly symmetric.
#include "distributed/matrix_look.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "distributed/device_blocks.hpp"
#include "kernels/csr_scans.hpp"
#include "parallel/collective.hpp"
#include "sparse/row_facts.hpp"
#include "sparse/skew_sketch.hpp"

namespace trireme {
namespace {

// Of all rows, or of those with ghosts where a GPU has the others.
RowFacts facts_on_host(const DistributedMatrix& matrix, const DeviceBlocks* on_gpu,
                       std::span<const std::uint8_t> has_ghost) {
  const SplitRows& parts = matrix.blocks;
  const Array<RowKey> keys = row_keys(matrix.first_row(), matrix.local_rows());
  const Array<RowKey> ghost_keys = row_keys(parts.ghost_columns);
  RowFacts facts;
  for (const SplitRows::Rows& rows : parts.rows_by_blocks()) {
    const KeyedRows keyed{rows.local, rows.ghost, rows.first_row, keys, ghost_keys};
    if (!on_gpu) {
      facts += row_facts(keyed);
      continue;
    }
    std::vector<std::int32_t> named;
    for (std::int64_t row = 0; row < rows.local.rows; ++row)
      if (has_ghost[rows.first_row + row] != 0) named.push_back(static_cast<std::int32_t>(row));
    facts += row_facts(keyed, named);
  }
  return facts;
}

Array<std::uint8_t> rows_with_ghosts(const DistributedMatrix& matrix) {
  Array<std::uint8_t> has_ghost(matrix.local_rows(), 0);
  for (const RowBlock<double>& block : matrix.blocks.ghost.blocks())
    for (std::int64_t row = 0; row < block.csr.rows; ++row)
      has_ghost[block.first_row + row] =
          block.csr.row_ptr[row + 1] > block.csr.row_ptr[row] ? 1 : 0;
  return has_ghost;
}

RowFacts own_facts(const DistributedMatrix& matrix) {
  DeviceBlocks* const on_gpu = DeviceBlocks::find(matrix);
  if (!on_gpu) return facts_on_host(matrix, nullptr, {});
  const StreamRef stream = on_gpu->stream();
  Array<std::uint8_t> has_ghost;
  if (matrix.blocks.ghost.nnz() > 0) has_ghost = rows_with_ghosts(matrix);
  const DeviceBuffer<std::uint8_t> left_out =
      to_device(std::span<const std::uint8_t>(has_ghost), stream);
  RowFacts facts;
  on_gpu->for_each_block(matrix, [&](const DeviceRowBlock<double>& block) {
    facts += row_facts({&block, 1}, matrix.first_row(), left_out.view(), stream);
  });
  if (!has_ghost.empty()) facts += facts_on_host(matrix, on_gpu, has_ghost);
  return facts;
}

// Collective.
RowFacts facts_of(const DistributedMatrix& matrix) {
  RowFacts facts;
  collectively(matrix.comm, [&] { facts = own_facts(matrix); });
  std::int64_t counts[] = {facts.positive, facts.negative, facts.zero,
                           facts.empty,    facts.dominant, facts.with_sum};
  std::uint64_t hashes[] = {facts.pattern, facts.values};
  double extremes[] = {facts.greatest, -facts.least};
  MPI_Allreduce(MPI_IN_PLACE, counts, 6, MPI_INT64_T, MPI_SUM, matrix.comm);
  MPI_Allreduce(MPI_IN_PLACE, hashes, 2, MPI_UINT64_T, MPI_SUM, matrix.comm);
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MAX, matrix.comm);
  return {.positive = counts[0],
          .negative = counts[1],
          .zero = counts[2],
          .empty = counts[3],
          .dominant = counts[4],
          .with_sum = counts[5],
          .pattern = hashes[0],
          .values = hashes[1],
          .least = -extremes[1],
          .greatest = extremes[0]};
}

// The number in the file of the first row with a zero on the diagonal. Collective.
std::int64_t first_zero_of(const DistributedMatrix& matrix) {
  Array<double> diagonal;
  collectively(matrix.comm, [&] { diagonal.resize(matrix.local_rows()); });
  matrix.diagonal(diagonal);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t i = 0; i < matrix.local_rows(); ++i)
    if (diagonal[i] == 0) first = std::min(first, matrix.callers_row(i));
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, matrix.comm);
  return first;
}

// Collective.
SkewSketch sketch_of(const DistributedMatrix& matrix, double greatest) {
  const SplitRows& parts = matrix.blocks;
  const double unit = greatest > 0 ? std::ldexp(1.0, std::ilogb(greatest)) : 1;
  SkewSketch sketch;
  collectively(matrix.comm, [&] {
    const std::int64_t first = matrix.first_row();
    const Array<RandomPair> own = random_pairs(first, matrix.local_rows());
    Array<RandomPair> of_ghosts;
    for (const std::int64_t column : parts.ghost_columns) of_ghosts.emplace_back(column);
    for (const SplitRows::Rows& rows : parts.rows_by_blocks()) {
      sketch += skew_sketch(rows.local, first + rows.first_row, own, unit);
      if (rows.ghost.nnz() > 0)
        sketch += skew_sketch(rows.ghost, first + rows.first_row, of_ghosts, unit);
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, sketch.sums.data(), static_cast<int>(sketch.sums.size()), MPI_DOUBLE,
                MPI_SUM, matrix.comm);
  MPI_Allreduce(MPI_IN_PLACE, &sketch.squares, 1, MPI_DOUBLE, MPI_SUM, matrix.comm);
  return sketch;
}

// The skew part of a large matrix as some rows of each rank show it, so that a matrix which is far
// from symmetric needs no pass over all of its entries. Empty: the matrix is small, or these rows
// do not show it. Collective.
std::optional<double> skew_by_sample(const DistributedMatrix& matrix, double greatest) {
  constexpr std::int64_t kLarge = 20'000;  // nonzeros
  constexpr std::int64_t kRows = 512;
  constexpr double kClearly = 1e-6;
  if (matrix.global_nnz < kLarge) return std::nullopt;
  const auto blocks = matrix.blocks.local.blocks();
  const CsrView<double> a = blocks.size() == 1 ? blocks.front().csr : CsrView<double>{};
  const double unit = std::ldexp(1.0, std::ilogb(greatest));
  const auto entry = [&](std::int64_t row, std::int64_t column) {
    for (auto k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      if (a.col_idx[k] == column) return a.values[k] / unit;
    return 0.0;
  };
  double squares[] = {0, 0};  // of the skew part, of the values
  const std::int64_t step = std::max<std::int64_t>(1, a.rows / kRows);
  for (std::int64_t i = 0; i < a.rows; i += step)
    for (auto k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const double value = a.values[k] / unit, half = (value - entry(a.col_idx[k], i)) / 2;
      squares[0] += half * half;
      squares[1] += value * value;
    }
  MPI_Allreduce(MPI_IN_PLACE, squares, 2, MPI_DOUBLE, MPI_SUM, matrix.comm);
  const double skew = squares[1] > 0 ? std::sqrt(squares[0] / squares[1]) : 0;
  return skew > kClearly ? std::optional(std::min(skew, 1.0)) : std::nullopt;
}

MatrixLook found_by_looking(const DistributedMatrix& matrix) {
  const RowFacts facts = facts_of(matrix);
  MatrixLook look{.rows = matrix.global_rows(),
                  .nnz = matrix.global_nnz,
                  .symmetric_pattern = facts.pattern == 0,
                  .symmetric_values = facts.values == 0,
                  .positive_diagonal = facts.positive,
                  .negative_diagonal = facts.negative,
                  .zero_diagonal = facts.zero,
                  .empty_rows = facts.empty,
                  .dominant_rows = facts.dominant,
                  .constant_nullspace = facts.with_sum == 0 && facts.greatest > 0,
                  .row_sizes = {facts.least, facts.greatest}};
  if (!(facts.greatest > 0)) look.row_sizes = {};
  if (look.zero_diagonal > 0) look.first_zero_diagonal = first_zero_of(matrix);
  if (look.symmetric_values) return look;
  if (const auto skew = skew_by_sample(matrix, facts.greatest)) {
    look.skew = *skew;
    return look;
  }
  const SkewSketch sketch = sketch_of(matrix, facts.greatest);
  look.nearly_symmetric = sketch.is_rounding();
  look.skew = sketch.skew();
  return look;
}

}  // namespace

int SizeSpan::powers_of_two() const {
  return greatest > 0 ? std::ilogb(greatest) - std::ilogb(least) : 0;
}

const MatrixLook* known_look(const DistributedMatrix& matrix) {
  const LookOfVersion& known = matrix.look;
  return known.version == matrix.values_version ? known.look.get() : nullptr;
}

const MatrixLook& look_at(const DistributedMatrix& matrix) {
  LookOfVersion& known = matrix.look;
  int stale = known_look(matrix) ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &stale, 1, MPI_INT, MPI_MAX, matrix.comm);
  if (stale != 0)
    known = {std::make_shared<const MatrixLook>(found_by_looking(matrix)), matrix.values_version};
  return *known.look;
}

}  // namespace trireme
