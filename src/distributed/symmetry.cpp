// SPDX-License-Identifier: BSD-3-Clause
// The sums over both blocks and all ranks.
#include "distributed/symmetry.hpp"

#include "distributed/device_blocks.hpp"
#include "kernels/csr_scans.hpp"
#include "parallel/collective.hpp"
#include "sparse/skew_sums.hpp"

namespace trireme {
namespace {

SkewSums sums_of_blocks(const CsrMatrix<double>& a, std::int64_t first_row,
                        std::span<const RandomPair> columns) {
  SkewSums sums;
  for (const RowBlock<double>& block : a.blocks())
    sums += skew_sums(block.csr, first_row + block.first_row, columns);
  return sums;
}

SkewSums sums_of(const DistributedMatrix& matrix) {
  const SplitRows& parts = matrix.blocks;
  const std::int64_t first = matrix.first_row();
  const DeviceBlocks* on_gpu = DeviceBlocks::find(matrix);
  SkewSums sums;
  if (on_gpu)
    sums = skew_sums(on_gpu->local().blocks(), first, on_gpu->stream());
  else
    sums = sums_of_blocks(parts.local, first, random_pairs(first, matrix.local_rows()));
  if (parts.ghost.nnz() == 0) return sums;
  Array<RandomPair> of_ghosts;
  for (const std::int64_t column : parts.ghost_columns) of_ghosts.emplace_back(column);
  return sums += sums_of_blocks(parts.ghost, first, of_ghosts);
}

}  // namespace

bool looks_symmetric(const DistributedMatrix& matrix) {
  SkewSums sums;
  collectively(matrix.comm, [&] { sums = sums_of(matrix); });
  double all[2] = {sums.difference, sums.magnitude};
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_DOUBLE, MPI_SUM, matrix.comm);
  return SkewSums{all[0], all[1]}.of_a_symmetric_matrix();
}

}  // namespace trireme
