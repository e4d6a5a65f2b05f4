// SPDX-License-Identifier: BSD-3-Clause
// Joins the local block and the ghost block of a rank's rows.
#include "multigrid/ranks/extended_rows.hpp"

#include <algorithm>

#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/relaxed_constants_functors.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

// Calls copy(from, block, to, count) for the entries of row i of both blocks.
template <class Copy>
void for_parts(const SplitRows& blocks, std::int64_t i, std::int32_t to, const Copy& copy) {
  const std::int32_t first = blocks.local.row_ptr[i];
  const std::int32_t count = blocks.local.row_ptr[i + 1] - first;
  copy(first, blocks.local, to, count);
  const std::int32_t first_ghost = blocks.ghost.row_ptr[i];
  copy(first_ghost, blocks.ghost, to + count, blocks.ghost.row_ptr[i + 1] - first_ghost);
}

}  // namespace

ExtendedRows::ExtendedRows(const LocalRows& whole)
    : comm_(MPI_COMM_SELF),
      row_starts_{0, whole.local.rows},
      whole_(whole),
      own_nodes_(whole.local.rows) {}

ExtendedRows::ExtendedRows(MPI_Comm comm, const DistributedMatrix& matrix, std::int32_t block_size)
    : comm_(comm),
      row_starts_(matrix.row_starts),
      whole_(local_rows(matrix)),
      own_nodes_(matrix.local_rows() / block_size) {
  const SplitRows& blocks = matrix.blocks;
  std::vector<std::int64_t> node_starts;
  collectively(comm, [&] {
    for (const std::int64_t start : row_starts_) node_starts.push_back(start / block_size);
    for (const std::int64_t column : blocks.ghost_columns)
      if (ghost_nodes_.empty() || ghost_nodes_.back() != column / block_size)
        ghost_nodes_.push_back(static_cast<std::int32_t>(column / block_size));
  });
  nodes_ = plan_halo(comm, node_starts, ghost_nodes_);
  collectively(comm, [&] {
    const std::int64_t own = blocks.local.rows;
    columns_ = widened(nodes_, own_nodes_, block_size, block_size);
    if (ghost_nodes_.empty()) return;
    Array<std::int32_t> place(blocks.ghost_columns.size());
    std::int32_t node = 0;
    for (std::size_t g = 0; g < place.size(); ++g) {
      const auto column = static_cast<std::int32_t>(blocks.ghost_columns[g]);
      while (ghost_nodes_[node] != column / block_size) ++node;
      place[g] = static_cast<std::int32_t>(own) + node * block_size + column % block_size;
    }
    rows_.rows = own;
    rows_.cols = own + std::ssize(ghost_nodes_) * block_size;
    rows_.row_ptr = blocks.local.row_ptr;
    HostPlace::for_each(own + 1,
                        [&](std::int64_t i) { rows_.row_ptr[i] += blocks.ghost.row_ptr[i]; });
    rows_.col_idx.resize(blocks.nnz());
    HostPlace::for_each(own, [&](std::int64_t i) {
      for_parts(blocks, i, rows_.row_ptr[i],
                [&](std::int32_t from, const CsrMatrix<double>& block, std::int32_t to,
                    std::int32_t count) {
                  for (std::int32_t k = 0; k < count; ++k) {
                    const std::int32_t column = block.col_idx[from + k];
                    rows_.col_idx[to + k] = &block == &blocks.ghost ? place[column] : column;
                  }
                });
    });
    renew(matrix);
  });
}

LocalRows ExtendedRows::view() const {
  LocalRows rows = whole_;
  if (!ghost_nodes_.empty()) rows.local = rows_.view();
  if (!scaled_.empty()) rows.local.values = scaled_;
  return rows;
}

void ExtendedRows::scale(std::span<const double> x) {
  const CsrView<double> a = view().local;
  scaled_.resize(a.nnz());
  HostPlace::for_each(a.rows, ScaleBothSides{MatrixPointers(a), x.data(), scaled_.data()});
}

void ExtendedRows::renew(const DistributedMatrix& matrix) {
  whole_ = local_rows(matrix);
  if (ghost_nodes_.empty()) return;
  const SplitRows& blocks = matrix.blocks;
  rows_.values.resize(blocks.nnz());
  HostPlace::for_each(rows_.rows, [&](std::int64_t i) {
    for_parts(blocks, i, rows_.row_ptr[i],
              [&](std::int32_t from, const CsrMatrix<double>& block, std::int32_t to,
                  std::int32_t count) {
                std::copy_n(block.values.data() + from, count, rows_.values.data() + to);
              });
  });
}

std::int64_t ExtendedRows::bytes() const {
  return static_cast<std::int64_t>(rows_.row_ptr.size() + rows_.col_idx.size()) * 4 +
         rows_.nnz() * 8;
}

}  // namespace trireme::multigrid
