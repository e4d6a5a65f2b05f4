// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/fsai.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "distributed/set_up_memory.hpp"
#include "inverses/growing_row.hpp"
#include "multigrid/ranks/send_to_ranks.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "parallel/collective.hpp"

namespace trireme::inverses {
namespace {

using multigrid::HostPlace;

constexpr std::int64_t kRowsOfTurn = 256;

std::int64_t turns_of(std::int64_t rows) { return (rows + kRowsOfTurn - 1) / kRowsOfTurn; }

// Calls work(i, row) for the rows of this rank.
template <class Work>
void for_own_rows(const ScaledRows& a, std::int64_t turn, GrowingRow& row, const Work& work) {
  const std::int64_t last = std::min(a.own(), (turn + 1) * kRowsOfTurn);
  for (std::int64_t i = turn * kRowsOfTurn; i < last; ++i) work(i, row);
}

// Writes a row that was made, scaled to A itself, to values[k] ...
void put(const ScaledRows& a, std::int64_t i, const GrowingRow& row, double* values) {
  for (const auto& [column, number] : row.entries()) *values++ = number * a.scale(column);
  *values = row.last() * a.scale(a.first_own() + i);
}

void require_entries(std::int64_t entries) {
  if (entries > kMostNonzerosOfBlock)
    fail(ExitCode::resource,
         "the approximate inverse (fsai) has {} entries on a rank, of at most {}; use more ranks",
         entries, kMostNonzerosOfBlock);
}

// What a fully grown G, the work of the threads and the transposed take beside `a`.
void require_memory(const DistributedMatrix& matrix, const ScaledRows& a, std::int32_t steps) {
  const std::int64_t entries = a.own() * (1 + kEntriesPerStep * std::int64_t{steps});
  const std::int64_t mine = entries * 40 + a.rows() * 12 * omp_get_max_threads();
  require_set_up_memory(matrix.comm, mine, "setting up the approximate inverse (fsai)");
}

}  // namespace

RowSlab make_fsai(const DistributedMatrix& matrix, const ScaledRows& a,
                  const FsaiOptions& options) {
  require_memory(matrix, a, options.steps);
  RowSlab g{.global_rows = matrix.global_rows(),
            .global_cols = matrix.global_rows(),
            .first_row = matrix.first_row()};
  CsrMatrix<double>& local = g.local;
  collectively(matrix.comm, [&] {
    struct Part {
      std::vector<std::int32_t> columns;
      std::vector<double> values;
    };
    const std::int64_t turns = turns_of(a.own());
    std::vector<Part> parts(turns);
    local.rows = a.own();
    local.cols = g.global_cols;
    local.row_ptr.resize(a.own() + 1);
    HostPlace::for_each_turn(
        turns, [&] { return GrowingRow(a); },
        [&](std::int64_t turn, GrowingRow& of_thread) {
          Part& part = parts[turn];
          for_own_rows(a, turn, of_thread, [&](std::int64_t i, GrowingRow& row) {
            row.grow(a.first_own() + i, options.steps);
            const std::size_t first = part.columns.size();
            for (const auto& entry : row.entries()) part.columns.push_back(a.number(entry.first));
            part.columns.push_back(a.number(a.first_own() + i));
            part.values.resize(part.columns.size());
            put(a, i, row, part.values.data() + first);
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
    HostPlace::for_each_heavy(turns, kRowsOfTurn, [&](std::int64_t turn) {
      std::ranges::copy(parts[turn].columns, local.col_idx.begin() + starts[turn]);
      std::ranges::copy(parts[turn].values, local.values.begin() + starts[turn]);
      parts[turn] = {};
    });
  });
  g.global_nnz = sum_over_ranks(matrix.comm, local.nnz());
  return g;
}

void renew_fsai(const DistributedMatrix& matrix, const ScaledRows& a, RowSlab& g) {
  collectively(matrix.comm, [&] {
    // The row of `a` with a number of A: both ascend.
    const auto place = [&](std::int32_t number) {
      std::int64_t low = 0, high = a.rows();
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (a.number(middle) < number)
          low = middle + 1;
        else
          high = middle;
      }
      return static_cast<std::int32_t>(low);
    };
    HostPlace::for_each_turn(
        turns_of(a.own()), [&] { return GrowingRow(a); },
        [&](std::int64_t turn, GrowingRow& of_thread) {
          std::vector<std::int32_t> pattern;
          for_own_rows(a, turn, of_thread, [&](std::int64_t i, GrowingRow& row) {
            pattern.clear();
            for (std::int32_t k = g.local.row_ptr[i]; k < g.local.row_ptr[i + 1] - 1; ++k)
              pattern.push_back(place(g.local.col_idx[k]));
            row.fill(a.first_own() + i, pattern);
            put(a, i, row, g.local.values.data() + g.local.row_ptr[i]);
          });
        });
  });
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
