// SPDX-License-Identifier: BSD-3-Clause
// Sorts the rows of a rank and of its ghosts, and scales them.
#include "inverses/scaled_rows.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "parallel/collective.hpp"

namespace trireme::inverses {
namespace {

using multigrid::HostPlace;
using Entries = std::vector<std::pair<std::int32_t, double>>;

// Sorts by column and adds entries of the same place up.
void put_in_order(Entries& entries) {
  std::ranges::stable_sort(entries, {}, &Entries::value_type::first);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < entries.size(); ++k)
    if (kept > 0 && entries[kept - 1].first == entries[k].first)
      entries[kept - 1].second += entries[k].second;
    else
      entries[kept++] = entries[k];
  entries.resize(kept);
}

// Of numbers of any magnitude.
double norm_of(const Entries& entries) {
  double largest = 0, sum = 0;
  for (const auto& [column, value] : entries) largest = std::fmax(largest, std::abs(value));
  if (largest == 0) return 0;
  for (const auto& [column, value] : entries) sum += (value / largest) * (value / largest);
  return largest * std::sqrt(sum);
}

}  // namespace

ScaledRows::ScaledRows(const DistributedMatrix& matrix, RowScaling scaling) {
  const bool by_norms = scaling == RowScaling::norms;
  matrix.require_32_bits();
  own_ = matrix.local_rows();
  first_number_ = matrix.first_row();
  const bool alone = size_of(matrix.comm) == 1;
  std::optional<multigrid::ExtendedRows> extended;
  std::optional<multigrid::GhostRows> ghosts;
  Array<std::int32_t> global;  // of the columns of `extended`
  if (!alone) {
    extended.emplace(matrix.comm, matrix, 1);
    collectively(matrix.comm, [&] {
      global.resize(extended->view().local.cols);
      for (std::int64_t i = 0; i < own_; ++i)
        global[i] = static_cast<std::int32_t>(first_number_ + i);
      std::ranges::copy(extended->ghost_nodes(), global.begin() + own_);
    });
    ghosts.emplace(matrix.comm, extended->halo_of_columns(), extended->view().local, global);
  }
  std::int64_t wrong = -1;  // the row of A that has no scale
  double diagonal = 0;
  collectively(matrix.comm, [&] {
    if (!alone) {
      numbers_ = global;
      std::ranges::sort(numbers_);
      first_own_ = std::ranges::lower_bound(numbers_, static_cast<std::int32_t>(first_number_)) -
                   numbers_.begin();
      if (own_ == 0) first_own_ = 0;
    }
    const std::int64_t rows = alone ? own_ : std::ssize(numbers_);
    // The place of a column of A among these rows; -1: it is none of them.
    const auto place = [&](std::int32_t column) {
      if (alone) return column;
      const auto at = std::ranges::lower_bound(numbers_, column);
      return at == numbers_.end() || *at != column
                 ? std::int32_t{-1}
                 : static_cast<std::int32_t>(at - numbers_.begin());
    };
    const std::int64_t before = first_own_;  // ghosts with smaller numbers
    const auto read = [&](std::int64_t row, Entries& entries) {
      entries.clear();
      if (alone) {
        const CsrMatrix<double>& a = matrix.blocks.local;
        for (std::int64_t k = a.row_begin(row); k < a.row_begin(row + 1); ++k)
          entries.emplace_back(a.col_idx[k], a.values[k]);
      } else if (row >= before && row < before + own_) {
        const CsrView<double> a = extended->view().local;
        for (std::int32_t k = a.row_ptr[row - before]; k < a.row_ptr[row - before + 1]; ++k)
          entries.emplace_back(place(global[a.col_idx[k]]), a.values[k]);
      } else {
        const std::int64_t ghost = row < before ? row : row - own_;
        const CsrMatrix<double>& a = ghosts->rows();
        for (std::int32_t k = a.row_ptr[ghost]; k < a.row_ptr[ghost + 1]; ++k)
          if (const std::int32_t column = place(ghosts->columns()[a.col_idx[k]]); column >= 0)
            entries.emplace_back(column, a.values[k]);
      }
      put_in_order(entries);
    };

    // With the columns that are left out: a row that has lost some must not seem to be more than it
    // is.
    const auto whole_ghost = [&](std::int64_t ghost) {
      const CsrMatrix<double>& a = ghosts->rows();
      Entries entries;
      for (std::int32_t k = a.row_ptr[ghost]; k < a.row_ptr[ghost + 1]; ++k)
        entries.emplace_back(a.col_idx[k], a.values[k]);
      put_in_order(entries);
      return entries;
    };

    constexpr std::int64_t kRowsOfTurn = 1024;
    const std::int64_t turns = (rows + kRowsOfTurn - 1) / kRowsOfTurn;
    const auto for_rows = [&](const auto& work) {
      HostPlace::for_each_turn(
          turns, [] { return Entries(); },
          [&](std::int64_t turn, Entries& entries) {
            for (std::int64_t i = turn * kRowsOfTurn; i < std::min(rows, (turn + 1) * kRowsOfTurn);
                 ++i) {
              read(i, entries);
              work(i, entries);
            }
          });
    };
    begin_.resize(rows + 1);
    begin_[0] = 0;
    scale_.resize(rows);
    for_rows([&](std::int64_t i, const Entries& entries) {
      begin_[i + 1] = std::ssize(entries);
      if (by_norms) {
        const bool mine = alone || (i >= before && i < before + own_);
        scale_[i] = mine ? norm_of(entries) : norm_of(whole_ghost(i < before ? i : i - own_));
        return;
      }
      const auto own = std::ranges::lower_bound(entries, static_cast<std::int32_t>(i), {},
                                                &Entries::value_type::first);
      const bool stored = own != entries.end() && own->first == i;
      scale_[i] = stored ? own->second : 0;
    });
    for (std::int64_t i = 0; i < rows && wrong < 0; ++i)
      if (!(scale_[i] > 0 && std::isfinite(scale_[i]))) {
        const bool mine = i >= first_own_ && i < first_own_ + own_;
        if (by_norms && !mine && scale_[i] == 0) {
          scale_[i] = 1;  // none of its columns is here
          continue;
        }
        wrong = mine ? matrix.callers_row(i - first_own_) : number(i);
        diagonal = scale_[i];
      }
    if (wrong >= 0 && by_norms)
      fail(ExitCode::input,
           "row {} (from 0) is zero or not finite; an approximate inverse (spai) needs a matrix "
           "that has one",
           wrong);
    if (wrong >= 0)
      fail(ExitCode::input,
           "row {} (from 0) has {:g} on the diagonal; an approximate inverse (fsai) needs a "
           "symmetric positive definite matrix",
           wrong, diagonal);
    for (std::int64_t i = 0; i < rows; ++i) begin_[i + 1] += begin_[i];
    HostPlace::for_each(rows, [&](std::int64_t i) {
      scale_[i] = 1 / (by_norms ? scale_[i] : std::sqrt(scale_[i]));
    });
    columns_.resize(begin_[rows]);
    values_.resize(begin_[rows]);
    for_rows([&](std::int64_t i, const Entries& entries) {
      std::int64_t k = begin_[i];
      for (const auto& [column, value] : entries) {
        columns_[k] = column;
        values_[k++] = by_norms      ? value * scale_[i]
                       : column == i ? 1
                                     : value * scale_[i] * scale_[column];
      }
    });
  });
}

std::int32_t ScaledRows::row_with(std::int32_t number) const {
  if (numbers_.empty()) return static_cast<std::int32_t>(number - first_number_);
  return static_cast<std::int32_t>(std::ranges::lower_bound(numbers_, number) - numbers_.begin());
}

double ScaledRows::value(std::int64_t row, std::int32_t column) const {
  const auto all = columns(row);
  const auto at = std::ranges::lower_bound(all, column);
  return at == all.end() || *at != column ? 0 : values(row)[at - all.begin()];
}

}  // namespace trireme::inverses
