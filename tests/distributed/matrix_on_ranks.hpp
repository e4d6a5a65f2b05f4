// SPDX-License-Identifier: BSD-3-Clause
// A small matrix that every rank knows, distributed in several ways.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "distributed/distributed_matrix.hpp"
#include "parallel/collective.hpp"
#include "sparse/partition.hpp"

namespace trireme::test {

enum class Cut { by_nonzeros, all_on_last_rank, first_rank_empty };

inline std::vector<std::int64_t> row_starts(const CsrMatrix<double>& a, int ranks, Cut cut) {
  if (cut == Cut::all_on_last_rank) {
    std::vector<std::int64_t> starts(ranks + 1, 0);
    starts.back() = a.rows;
    return starts;
  }
  const int without = cut == Cut::first_rank_empty && ranks > 1 ? 1 : 0;
  std::vector<std::int64_t> starts =
      split_by_nonzeros(std::span<const std::int32_t>(a.row_ptr), ranks - without);
  starts.insert(starts.begin(), without, 0);
  return starts;
}

inline RowSlab slab_of(const CsrMatrix<double>& a, std::int64_t first, std::int64_t last) {
  RowSlab slab{.global_rows = a.rows,
               .global_cols = a.cols,
               .global_nnz = a.nnz(),
               .first_row = first,
               .local = {}};
  const std::int32_t begin = a.row_ptr[first], end = a.row_ptr[last];
  slab.local.rows = last - first;
  slab.local.cols = a.cols;
  slab.local.row_ptr.assign(a.row_ptr.begin() + first, a.row_ptr.begin() + last + 1);
  for (std::int32_t& offset : slab.local.row_ptr) offset -= begin;
  slab.local.col_idx.resize(end - begin);
  std::copy_n(a.col_idx.begin() + begin, end - begin, slab.local.col_idx.begin());
  slab.local.values.resize(end - begin);
  std::copy_n(a.values.begin() + begin, end - begin, slab.local.values.begin());
  return slab;
}

inline std::shared_ptr<DistributedMatrix> matrix_on_ranks(MPI_Comm comm, const CsrMatrix<double>& a,
                                                          Cut cut) {
  std::vector<std::int64_t> starts = row_starts(a, size_of(comm), cut);
  const int rank = rank_of(comm);
  RowSlab slab = slab_of(a, starts[rank], starts[rank + 1]);
  return distribute(comm, std::move(slab), std::move(starts));
}

// The part of a vector that lies on this rank.
inline Array<double> own_part(const DistributedMatrix& matrix, const Array<double>& whole) {
  const auto begin = whole.begin() + matrix.first_row();
  return Array<double>(begin, begin + matrix.local_rows());
}

}  // namespace trireme::test
