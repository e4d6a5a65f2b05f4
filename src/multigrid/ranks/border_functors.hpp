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
      to_values[to] = from.values[j];
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

}  // namespace trireme::multigrid
