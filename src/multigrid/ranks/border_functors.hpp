// SPDX-License-Identifier: BSD-3-Clause
// Functors over rows whose columns are those of a rank and, behind them, those of ghosts.
#pragma once

#include <cstdint>

#include "multigrid/set_up/product_row.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

// Writes row i of two blocks side by side, and where it ends.
struct JoinRow {
  MatrixPointers local, ghost;
  const std::int32_t* place;  // by column of `ghost`
  std::int32_t* row_ptr;
  std::int32_t* col_idx;
  double* values;

  TRIREME_HD void operator()(std::int64_t i) const {
    std::int32_t to = local.row_ptr[i] + ghost.row_ptr[i];
    for (std::int32_t k = local.row_ptr[i]; k < local.row_ptr[i + 1]; ++k, ++to) {
      col_idx[to] = local.col_idx[k];
      values[to] = local.values[k];
    }
    for (std::int32_t k = ghost.row_ptr[i]; k < ghost.row_ptr[i + 1]; ++k, ++to) {
      col_idx[to] = place[ghost.col_idx[k]];
      values[to] = ghost.values[k];
    }
    row_ptr[i + 1] = to;
  }
};

// Copies row rows[k] to offset to_ptr[k].
struct CopyRowTo {
  MatrixPointers from;
  const std::int32_t* rows;
  const std::int32_t* to_ptr;
  std::int32_t* to_columns;
  double* to_values;

  TRIREME_HD void operator()(std::int64_t k) const {
    std::int32_t to = to_ptr[k];
    for (std::int32_t j = from.row_ptr[rows[k]]; j < from.row_ptr[rows[k] + 1]; ++j, ++to) {
      to_columns[to] = from.col_idx[j];
      if (from.values) to_values[to] = from.values[j];
    }
  }
};

// The number of entries of row rows[k].
struct LengthOfRow {
  const std::int32_t* row_ptr;
  const std::int32_t* rows;
  TRIREME_HD std::int32_t operator()(std::int64_t k) const {
    return row_ptr[rows[k] + 1] - row_ptr[rows[k]];
  }
};

// The number of entries of row i in columns below `cols`.
struct CountBelow {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  std::int32_t cols;
  TRIREME_HD std::int32_t operator()(std::int64_t i) const {
    std::int32_t count = 0;
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) count += col_idx[k] < cols;
    return count;
  }
};

// Writes these entries.
struct CopyBelow {
  MatrixPointers from;
  std::int32_t cols;
  const std::int32_t* to_ptr;
  std::int32_t* to_columns;
  double* to_values;

  TRIREME_HD void operator()(std::int64_t i) const {
    std::int32_t to = to_ptr[i];
    for (std::int32_t k = from.row_ptr[i]; k < from.row_ptr[i + 1]; ++k) {
      if (from.col_idx[k] >= cols) continue;
      to_columns[to] = from.col_idx[k];
      to_values[to++] = from.values[k];
    }
  }
};

// Turns global numbers into those of LocalNumbers, by bisection.
struct MakeLocal {
  std::int32_t first, own;
  const std::int32_t* others;
  std::int32_t count;
  std::int32_t* numbers;

  TRIREME_HD void operator()(std::int64_t i) const {
    const std::int32_t number = numbers[i];
    if (number < 0) return;
    if (number >= first && number < first + own) {
      numbers[i] = number - first;
      return;
    }
    std::int32_t low = 0, high = count;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (others[middle] < number)
        low = middle + 1;
      else
        high = middle;
    }
    numbers[i] = own + low;
  }
};

// The way back.
struct MakeGlobal {
  std::int32_t first, own;
  const std::int32_t* others;
  std::int32_t* numbers;

  TRIREME_HD void operator()(std::int64_t i) const {
    const std::int32_t number = numbers[i];
    numbers[i] = number < own ? first + number : others[number - own];
  }
};

// The same for the columns of a row, own ones first and others ascending, so that all ascend.
struct MakeRowGlobal {
  MatrixPointers from;
  std::int32_t first, own;
  const std::int32_t* others;
  std::int32_t* to_columns;
  double* to_values;

  TRIREME_HD void operator()(std::int64_t i) const {
    const std::int32_t begin = from.row_ptr[i], end = from.row_ptr[i + 1];
    std::int32_t beyond = end;  // where the others begin
    while (beyond > begin && from.col_idx[beyond - 1] >= own) --beyond;
    std::int32_t to = begin, k = beyond;
    for (; k < end && other(k) < first; ++k, ++to) put(to, other(k), k);
    for (std::int32_t j = begin; j < beyond; ++j, ++to) put(to, first + from.col_idx[j], j);
    for (; k < end; ++k, ++to) put(to, other(k), k);
  }

 private:
  TRIREME_HD std::int32_t other(std::int32_t k) const { return others[from.col_idx[k] - own]; }
  TRIREME_HD void put(std::int32_t to, std::int32_t column, std::int32_t k) const {
    to_columns[to] = column;
    to_values[to] = from.values[k];
  }
};

// The neighbours of a node, with edges back and with edges that other ranks have for it.
struct GatherEdges {
  const std::int32_t* row_ptr;
  const std::int32_t* neighbour;
  std::int32_t nodes;
  const std::int32_t* place;  // of ghosts, by the number that they have in `neighbour`
  const std::int32_t* back_ptr;
  const std::int32_t* back;
  const std::int32_t* first_of_others;
  const std::int32_t* of_others;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t node, Set& set) const {
    const std::int32_t lane = set.lane(), lanes = set.lanes();
    for (std::int32_t k = row_ptr[node] + lane; k < row_ptr[node + 1]; k += lanes)
      set.insert(neighbour[k] < nodes ? neighbour[k] : place[neighbour[k] - nodes]);
    for (std::int32_t k = back_ptr[node] + lane; k < back_ptr[node + 1]; k += lanes)
      set.insert(back[k]);
    for (std::int32_t k = first_of_others[node] + lane; k < first_of_others[node + 1]; k += lanes)
      set.insert(of_others[k]);
  }
  TRIREME_HD std::int64_t terms(std::int64_t node) const {
    return std::int64_t{row_ptr[node + 1]} - row_ptr[node] + back_ptr[node + 1] - back_ptr[node] +
           first_of_others[node + 1] - first_of_others[node];
  }
};

// Writes row i of a matrix of ones that adds row i to the rows `rows` + member[k], for the k from
// first[i] to first[i + 1].
struct SelectRow {
  const std::int32_t* first;
  const std::int32_t* member;
  std::int32_t rows;
  std::int32_t* row_ptr;  // where each row ends, behind a 0
  std::int32_t* col_idx;
  double* values;

  TRIREME_HD void operator()(std::int64_t i) const {
    const auto row = static_cast<std::int32_t>(i);
    std::int32_t to = row + first[i];
    col_idx[to] = row;
    values[to++] = 1;
    for (std::int32_t k = first[i]; k < first[i + 1]; ++k) {
      col_idx[to] = rows + member[k];
      values[to++] = 1;
    }
    row_ptr[i + 1] = to;
  }
};

}  // namespace trireme::multigrid
