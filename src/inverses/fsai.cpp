// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/fsai.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "inverses/growing_row.hpp"
#include "inverses/grown_rows.hpp"
#include "multigrid/ranks/send_to_ranks.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "parallel/collective.hpp"

namespace trireme::inverses {
namespace {

using RowOfEntries = std::span<const std::int32_t>;

// The entries of a row of G, scaled to A itself.
template <class Put>
void put_row(const ScaledRows& a, std::int64_t i, const GrowingRow& row, const Put& put) {
  for (const auto& [column, number] : row.entries()) put(column, number * a.scale(column));
  put(a.first_own() + i, row.last() * a.scale(a.first_own() + i));
}

}  // namespace

RowSlab make_fsai(const DistributedMatrix& matrix, const ScaledRows& a,
                  const FsaiOptions& options) {
  require_memory_of_rows(matrix, a, options.steps, 12, 0);
  return grown_rows(
      matrix, a, [&] { return GrowingRow(a); },
      [&](std::int64_t i, GrowingRow& row) { row.grow(a.first_own() + i, options.steps); },
      [&](std::int64_t i, const GrowingRow& row, const auto& put) { put_row(a, i, row, put); });
}

void renew_fsai(const DistributedMatrix& matrix, const ScaledRows& a, RowSlab& g) {
  refill_rows(
      matrix, a, g, [&] { return GrowingRow(a); },
      [&](std::int64_t i, GrowingRow& row, RowOfEntries pattern) {
        row.fill(a.first_own() + i, pattern.first(pattern.size() - 1));
      },
      [&](std::int64_t i, const GrowingRow& row, const auto& put) { put_row(a, i, row, put); });
}

RowSlab transposed(const DistributedMatrix& matrix, const RowSlab& g) {
  struct Entry {
    std::int32_t row, column;
    double value;
  };
  RowSlab result{.global_rows = g.global_rows,
                 .global_cols = g.global_cols,
                 .global_nnz = g.global_nnz,
                 .first_row = g.first_row};
  if (size_of(matrix.comm) == 1) {
    collectively(matrix.comm, [&] { result.local = multigrid::transpose(g.local.view()); });
    return result;
  }
  Array<Entry> entries;
  std::vector<int> to;
  collectively(matrix.comm, [&] {
    entries.resize(g.local.nnz());
    to.resize(entries.size());
    for (std::int64_t i = 0; i < g.local.rows; ++i)
      for (std::int32_t k = g.local.row_ptr[i]; k < g.local.row_ptr[i + 1]; ++k) {
        entries[k] = {g.local.col_idx[k], static_cast<std::int32_t>(g.first_row + i),
                      g.local.values[k]};
        to[k] = multigrid::owner_of(matrix.row_starts, g.local.col_idx[k]);
      }
  });
  // They come in the order of the ranks, and so with ascending columns in each row.
  entries = multigrid::send_to_ranks<Entry>(matrix.comm, entries, 1, to).values;
  collectively(matrix.comm, [&] {
    CsrMatrix<double>& local = result.local;
    require_entries(std::ssize(entries));
    local.rows = g.local.rows;
    local.cols = g.local.cols;
    local.row_ptr.assign(local.rows + 1, 0);
    for (const Entry& entry : entries) ++local.row_ptr[entry.row - g.first_row + 1];
    for (std::int64_t i = 0; i < local.rows; ++i) local.row_ptr[i + 1] += local.row_ptr[i];
    local.col_idx.resize(entries.size());
    local.values.resize(entries.size());
    Array<std::int32_t> next(local.row_ptr.begin(), local.row_ptr.end());
    for (const Entry& entry : entries) {
      const std::int32_t k = next[entry.row - g.first_row]++;
      local.col_idx[k] = entry.column;
      local.values[k] = entry.value;
    }
  });
  return result;
}

}  // namespace trireme::inverses
