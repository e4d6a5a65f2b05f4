// SPDX-License-Identifier: BSD-3-Clause
// Makes sparse matrices from a functor that adds up one row at a time.
//
// The functor has an operator()(i, sums), which adds to sums.at(column) (see row_sums.hpp) in an
// order of its own. The same functor makes a matrix in one pass, and later its numbers again. A
// sum has the same bits both times, because its terms are added in the same order from 0.
//
// On a GPU (cuda/make_rows.cuh), several lanes share a functor: each of sums.lanes() lanes adds
// terms of its own, sums.lane() being its number. Between two calls of sums.next() they add to
// different numbers. sums.from(value, lane) returns the value of another lane, and all lanes call
// it. Where Sums::kByOwners is true, a functor whose kOwners is true calls sums.add(column, term,
// terms) instead, by which all lanes offer one term each, of which the first `terms` count.
// terms(i) is about the number of terms of row i.
//
// Where Sums::kOrdered is false, only the columns are wanted, by sums.insert(column), and their
// order does not matter. sums.by_entries() then says whether each lane should take terms of its own
// rather than share each term with the other lanes, and sums.is_full() that a lane can stop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "multigrid/refusals.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/row_sums.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

enum class ColumnOrder { as_they_come, ascending };

// Columns and values of some rows, in their order.
struct RowsOfTurn {
  Array<std::int32_t> col_idx;
  Array<double> values;
};

template <int kWidth>
void append_row(RowsOfTurn& rows, const RowSums<kWidth>& sums) {
  const std::size_t before = rows.col_idx.size();
  rows.col_idx.resize(before + sums.sums().size());
  std::int32_t* to = rows.col_idx.data() + before;
  for (const std::int32_t column : sums.columns())
    for (int c = 0; c < kWidth; ++c) *to++ = column * kWidth + c;
  rows.values.insert(rows.values.end(), sums.sums().begin(), sums.sums().end());
}

// Returns the matrix of `rows` x `cols` whose row i is what f(i, sums) adds up; cols is a multiple
// of kWidth. Throws Error{resource} for more than 2^31-1 nonzeros. The peak of memory is twice the
// result.
template <int kWidth, class F>
CsrMatrix<double> make_rows(std::int64_t rows, std::int64_t cols, ColumnOrder order, const F& f) {
  constexpr std::int64_t kRowsPerTurn = 1024;
  const std::int64_t turns = (rows + kRowsPerTurn - 1) / kRowsPerTurn;
  CsrMatrix<double> result;
  result.rows = rows;
  result.cols = cols;
  result.row_ptr.resize(rows + 1);
  std::vector<RowsOfTurn> parts(turns);
  const auto make_sums = [&] { return RowSums<kWidth>(cols / kWidth); };
  HostPlace::for_each_turn(turns, make_sums, [&](std::int64_t turn, RowSums<kWidth>& sums) {
    RowsOfTurn& part = parts[turn];
    const std::int64_t first = turn * kRowsPerTurn, end = std::min(rows, first + kRowsPerTurn);
    for (std::int64_t i = first; i < end; ++i) {
      f(i, sums);
      if (order == ColumnOrder::ascending) sums.sort();
      result.row_ptr[i] = sums.size() * kWidth;
      append_row(part, sums);
      sums.clear();
    }
  });
  const std::int64_t nnz = HostPlace::sum_exclusively(result.row_ptr);
  check_nonzeros(nnz);
  result.col_idx.resize(nnz);
  result.values.resize(nnz);
  HostPlace::for_each_heavy(turns, nnz, [&](std::int64_t turn) {
    RowsOfTurn& part = parts[turn];
    const std::int32_t first = result.row_ptr[turn * kRowsPerTurn];
    std::copy(part.col_idx.begin(), part.col_idx.end(), result.col_idx.begin() + first);
    std::copy(part.values.begin(), part.values.end(), result.values.begin() + first);
    part = {};
  });
  return result;
}

// Computes the values of a matrix again that make_rows() made. f comes upon no other columns.
template <int kWidth, class F>
void refill_rows(CsrMatrix<double>& matrix, const F& f) {
  constexpr std::int64_t kRowsPerTurn = 256;
  const std::int64_t turns = (matrix.rows + kRowsPerTurn - 1) / kRowsPerTurn;
  const auto make_sums = [&] { return RowSums<kWidth>(matrix.cols / kWidth); };
  HostPlace::for_each_turn(turns, make_sums, [&](std::int64_t turn, RowSums<kWidth>& sums) {
    const std::int64_t end = std::min(matrix.rows, (turn + 1) * kRowsPerTurn);
    for (std::int64_t i = turn * kRowsPerTurn; i < end; ++i) {
      const std::int32_t first = matrix.row_ptr[i];
      sums.append_runs(std::span(matrix.col_idx).subspan(first, matrix.row_ptr[i + 1] - first));
      f(i, sums);
      std::copy(sums.sums().begin(), sums.sums().end(), matrix.values.begin() + first);
      sums.clear();
    }
  });
}

// Calls visit(std::integral_constant<int, w>) with the width w of runs, or with 1 where runs of
// this width have no code of their own.
template <class Visit>
decltype(auto) with_width(std::int32_t width, const Visit& visit) {
  switch (width) {
    case 2:
      return visit(std::integral_constant<int, 2>());
    case 3:
      return visit(std::integral_constant<int, 3>());
    case 6:
      return visit(std::integral_constant<int, 6>());
    default:
      return visit(std::integral_constant<int, 1>());
  }
}

}  // namespace trireme::multigrid
