// SPDX-License-Identifier: BSD-3-Clause
// The rows of a sparse matrix that threads grow one by one, each with a Row of its own: GrowingRow
// or LeastSquaresRow.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/set_up_memory.hpp"
#include "inverses/row_rules.hpp"
#include "inverses/scaled_rows.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "parallel/collective.hpp"
#include "sparse/csr.hpp"

namespace trireme::inverses {

inline constexpr std::int64_t kRowsGrownInTurn = 256;

inline std::int64_t turns_of(std::int64_t rows) {
  return (rows + kRowsGrownInTurn - 1) / kRowsGrownInTurn;
}

inline void require_entries(std::int64_t entries) {
  if (entries > kMostNonzerosOfBlock)
    fail(ExitCode::resource,
         "the approximate inverse has {} entries on a rank, of at most {}; use more ranks", entries,
         kMostNonzerosOfBlock);
}

// Throws Error{resource} on every rank where the fully grown rows, the work of the threads and
// `beside` bytes exceed the memory. Collective.
inline void require_memory_of_rows(const DistributedMatrix& matrix, const ScaledRows& a,
                                   std::int32_t steps, std::int64_t per_row_of_thread,
                                   std::int64_t beside) {
  const std::int64_t entries = a.own() * (1 + kEntriesPerStep * std::int64_t{steps});
  const std::int64_t mine =
      entries * 40 + a.rows() * per_row_of_thread * omp_get_max_threads() + beside;
  require_set_up_memory(matrix.comm, mine, "setting up the approximate inverse");
}

// Calls work(i, row) for the rows of this rank in a turn.
template <class Row, class Work>
void for_own_rows(const ScaledRows& a, std::int64_t turn, Row& row, const Work& work) {
  const std::int64_t last = std::min(a.own(), (turn + 1) * kRowsGrownInTurn);
  for (std::int64_t i = turn * kRowsGrownInTurn; i < last; ++i) work(i, row);
}

// The rows of this rank, with ascending global columns. grow(i, row) makes row i with a Row that
// make_row() has made, and for_entries(i, row, put) calls put(row of `a`, number) for its entries.
// Collective.
template <class MakeRow, class Grow, class ForEntries>
RowSlab grown_rows(const DistributedMatrix& matrix, const ScaledRows& a, const MakeRow& make_row,
                   const Grow& grow, const ForEntries& for_entries) {
  using multigrid::HostPlace;
  RowSlab slab{.global_rows = matrix.global_rows(),
               .global_cols = matrix.global_rows(),
               .first_row = matrix.first_row()};
  CsrMatrix<double>& local = slab.local;
  collectively(matrix.comm, [&] {
    struct Part {
      std::vector<std::int32_t> columns;
      std::vector<double> values;
    };
    const std::int64_t turns = turns_of(a.own());
    std::vector<Part> parts(turns);
    local.rows = a.own();
    local.cols = slab.global_cols;
    local.row_ptr.resize(a.own() + 1);
    HostPlace::for_each_turn(turns, make_row, [&](std::int64_t turn, auto& of_thread) {
      Part& part = parts[turn];
      for_own_rows(a, turn, of_thread, [&](std::int64_t i, auto& row) {
        grow(i, row);
        const std::size_t first = part.columns.size();
        for_entries(i, row, [&](std::int64_t column, double number) {
          part.columns.push_back(a.number(column));
          part.values.push_back(number);
        });
        local.row_ptr[i + 1] = static_cast<std::int32_t>(part.columns.size() - first);
      });
    });
    std::vector<std::int64_t> starts(turns + 1, 0);
    for (std::int64_t turn = 0; turn < turns; ++turn)
      starts[turn + 1] = starts[turn] + std::ssize(parts[turn].columns);
    require_entries(starts.back());
    for (std::int64_t i = 0; i < local.rows; ++i) local.row_ptr[i + 1] += local.row_ptr[i];
    local.col_idx.resize(starts.back());
    local.values.resize(starts.back());
    HostPlace::for_each_heavy(turns, kRowsGrownInTurn, [&](std::int64_t turn) {
      std::ranges::copy(parts[turn].columns, local.col_idx.begin() + starts[turn]);
      std::ranges::copy(parts[turn].values, local.values.begin() + starts[turn]);
      parts[turn] = {};
    });
  });
  slab.global_nnz = sum_over_ranks(matrix.comm, local.nnz());
  return slab;
}

// Gives the rows other numbers on the same pattern: fill(i, row, pattern) makes row i with the
// rows of `a` that its columns are. Collective.
template <class MakeRow, class Fill, class ForEntries>
void refill_rows(const DistributedMatrix& matrix, const ScaledRows& a, RowSlab& slab,
                 const MakeRow& make_row, const Fill& fill, const ForEntries& for_entries) {
  using multigrid::HostPlace;
  collectively(matrix.comm, [&] {
    HostPlace::for_each_turn(turns_of(a.own()), make_row, [&](std::int64_t turn, auto& of_thread) {
      std::vector<std::int32_t> pattern;
      for_own_rows(a, turn, of_thread, [&](std::int64_t i, auto& row) {
        pattern.clear();
        for (std::int32_t k = slab.local.row_ptr[i]; k < slab.local.row_ptr[i + 1]; ++k)
          pattern.push_back(a.row_with(slab.local.col_idx[k]));
        fill(i, row, pattern);
        double* value = slab.local.values.data() + slab.local.row_ptr[i];
        for_entries(i, row, [&](std::int64_t, double number) { *value++ = number; });
      });
    });
  });
}

}  // namespace trireme::inverses
