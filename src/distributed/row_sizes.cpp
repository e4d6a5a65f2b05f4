// SPDX-License-Identifier: BSD-3-Clause
// One pass over the values of both blocks.
#include "distributed/row_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "distributed/device_blocks.hpp"
#include "distributed/matrix_look.hpp"
#include "kernels/csr_scans.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

constexpr double kLeastSize = 0x1p-300;  // of the greatest one
constexpr double kDiagonalPart = 0.25;   // of a size, that a diagonal entry has at least

// sizes[i] = the larger of itself and the largest magnitude of row i. A NaN changes nothing.
void take_largest(const CsrMatrix<double>& a, std::span<const double> values,
                  std::span<double> sizes) {
  for (const RowBlock<double>& block : a.blocks()) {
    const CsrView<double>& rows = block.csr;
    const double* const of_block = values.data() + block.first_entry;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.rows; ++i) {
      double largest = sizes[block.first_row + i];
      for (std::int32_t k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k)
        largest = std::max(largest, std::abs(of_block[k]));
      sizes[block.first_row + i] = largest;
    }
  }
}

RowSizeRange range_of(std::span<const double> sizes) {
  RowSizeRange range;
  for (const double size : sizes) range.take(size);
  return range;
}

// The range over all ranks. Collective.
RowSizeRange over_ranks(MPI_Comm comm, const RowSizeRange& own) {
  double extremes[] = {own.greatest, -own.least};
  MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MAX, comm);
  return {-extremes[1], extremes[0]};
}

bool differ(const RowSizeRange& range) { return range.greatest >= kLikeSizes * range.least; }

// Replaces the sizes by one over them.
void invert(std::span<double> sizes, const RowSizeRange& range) {
  for (double& size : sizes) {
    if (size == 0) size = range.greatest;
    size = 1 / std::max(size, kLeastSize * range.greatest);
  }
}

// Whether the sizes may differ, by a look at the matrix, or by what a GPU says about the local
// block: the size of a row is at least what either block has of it. Collective.
bool may_differ(const DistributedMatrix& matrix) {
  if (const MatrixLook* const look = known_look(matrix))
    return differ({look->row_sizes.least, look->row_sizes.greatest});
  RowSizeRange own;
  int known = 0;
  collectively(matrix.comm, [&] {
    DeviceBlocks* const on_gpu = DeviceBlocks::find(matrix);
    known = on_gpu || matrix.local_rows() == 0 ? 1 : 0;
    if (!on_gpu) return;
    on_gpu->for_each_block(matrix, [&](const DeviceRowBlock<double>& block) {
      const RowSizeRange range = row_size_range({&block, 1}, on_gpu->stream());
      if (range.greatest > 0) own.take(range.least);
      own.take(range.greatest);
    });
    if (matrix.blocks.ghost.nnz() == 0) return;
    Array<double> of_ghosts(static_cast<std::size_t>(matrix.local_rows()), 0.0);
    take_largest(matrix.blocks.ghost, matrix.blocks.ghost.values, of_ghosts);
    for (const double size : of_ghosts) own.take(size);
  });
  MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, matrix.comm);
  return known == 0 || differ(over_ranks(matrix.comm, own));
}

RowSizes found_in(const DistributedMatrix& matrix) {
  if (!may_differ(matrix)) return {};
  Array<double> sizes;
  collectively(matrix.comm, [&] {
    sizes.assign(static_cast<std::size_t>(matrix.local_rows()), 0.0);
    take_largest(matrix.blocks.local, matrix.blocks.local.values, sizes);
    take_largest(matrix.blocks.ghost, matrix.blocks.ghost.values, sizes);
  });
  return row_sizes(matrix.comm, std::move(sizes), [&] {
    Array<double> diagonal(static_cast<std::size_t>(matrix.local_rows()));
    matrix.diagonal(diagonal);
    return diagonal;
  });
}

}  // namespace

RowSizes row_sizes(MPI_Comm comm, Array<double> sizes,
                   const std::function<Array<double>()>& diagonal) {
  const RowSizeRange range = over_ranks(comm, range_of(sizes));
  RowSizes result;
  result.differ = differ(range);
  if (!result.differ) return result;
  const Array<double> d = diagonal();
  int by_diagonal = range.least >= kLeastSize * range.greatest ? 1 : 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == 0 || !(std::abs(d[i]) >= kDiagonalPart * sizes[i])) by_diagonal = 0;
  MPI_Allreduce(MPI_IN_PLACE, &by_diagonal, 1, MPI_INT, MPI_MIN, comm);
  result.diagonal_is_size = by_diagonal == 1;
  invert(sizes, range);
  result.inverse = std::move(sizes);
  return result;
}

const RowSizes& row_sizes(const DistributedMatrix& matrix) {
  RowSizesOfVersion& known = matrix.row_sizes;
  int stale = known.sizes && known.version == matrix.values_version ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &stale, 1, MPI_INT, MPI_MAX, matrix.comm);
  if (stale != 0)
    known = {std::make_shared<const RowSizes>(found_in(matrix)), matrix.values_version};
  return *known.sizes;
}

RowSizes row_sizes_alone(const CsrMatrix<double>& pattern, std::span<const double> values) {
  RowSizes result;
  Array<double> sizes(static_cast<std::size_t>(pattern.rows), 0.0);
  take_largest(pattern, values, sizes);
  const RowSizeRange range = range_of(sizes);
  result.differ = differ(range);
  if (!result.differ) return result;
  invert(sizes, range);
  result.inverse = std::move(sizes);
  return result;
}

}  // namespace trireme
