// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose rows have patterns, but for a few, and whose rows repeat.
#pragma once

#include <cstdint>

#include "sparse/csr.hpp"
#include "support/shapes.hpp"

namespace trireme::test {

// A matrix of a regular grid, with a few rows that have columns of their own and an empty row;
// where `sorted`, rows of several lengths and one that is kept apart.
template <class Value>
CsrMatrix<Value> nearly_regular(std::int64_t rows, bool sorted) {
  CsrMatrix<Value> a;
  a.rows = rows;
  a.cols = rows + 2300;
  test::Random random(11);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = row == 700             ? 0
                                : sorted && row == 900 ? 1500
                                : sorted               ? 3 + row % 9
                                                       : 7;
    const std::int64_t own = row % 5000 == 11 ? row / 7 % 300 : 0;
    for (std::int64_t k = 0; k < length; ++k) {
      a.col_idx.push_back(static_cast<std::int32_t>(row + 100 * k % 1900 + own));
      a.values.push_back(random.value<Value>());
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

// A square matrix whose rows repeat: `kinds` rows in 5000 differ from the others in their columns
// and values. Where `sorted`, the rows have several lengths.
template <class Value>
CsrMatrix<Value> repeating(std::int64_t rows, bool sorted, std::int64_t kinds) {
  CsrMatrix<Value> a;
  a.rows = a.cols = rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = row == 700 ? 0 : sorted ? 3 + row % 5000 % 9 : 7;
    const std::int64_t own = row % 5000 < kinds ? row % 5000 : 0;
    for (std::int64_t k = 0; k < length; ++k) {
      const std::int64_t away = 100 * k % 1900 + own;
      a.col_idx.push_back(static_cast<std::int32_t>(row < rows / 2 ? row + away : row - away));
      a.values.push_back(Value{1} / static_cast<Value>(3 + k + own));
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

}  // namespace trireme::test
