// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose rows repeat, for the tests of ALBUS, and the layout of a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/albus/build.hpp"
#include "support/random.hpp"

namespace trireme::test {

// Lines of rows with the same five values at the same distances from the diagonal, which are in no
// order. A row of two nonzeros ends each line.
template <class Value>
CsrMatrix<Value> stencil(std::int64_t lines, std::int64_t rows_of_line) {
  static constexpr std::int32_t kOffsets[] = {40, 0, 57, 1, 3};
  const auto coefficients = random_vector<Value>(5, 41);
  CsrMatrix<Value> a;
  a.rows = lines * (rows_of_line + 1);
  a.cols = a.rows + 57;
  for (std::int32_t row = 0; row < a.rows; ++row) {
    const std::int32_t length = (row + 1) % (rows_of_line + 1) == 0 ? 2 : 5;
    for (std::int32_t k = 0; k < length; ++k) {
      a.col_idx.push_back(row + kOffsets[k]);
      a.values.push_back(coefficients[k]);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

// A layout without slices. It borrows the values of the matrix.
template <class Value>
albus::Layout<Value> layout_of(const CsrMatrix<Value>& matrix, std::int64_t parts) {
  std::vector<BuildStep> steps;
  albus::Layout<Value> layout;
  static_cast<albus::Pattern&>(layout) =
      albus::build(matrix.view(), parts, steps, albus::Slices::never);
  layout.values = matrix.values;
  albus::place_values<Value, Value>(layout, layout.values, layout.placed);
  return layout;
}

// The rows whose values are stored once per window or more seldom.
inline std::int64_t rows_that_repeat(const albus::Pattern& pattern) {
  std::int64_t rows = 0;
  for (const albus::Part& part : pattern.parts)
    for (const albus::Window& window : part.windows)
      if (window.repeated) rows += window.rows;
  return rows;
}

}  // namespace trireme::test
