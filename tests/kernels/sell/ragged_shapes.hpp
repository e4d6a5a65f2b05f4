// SPDX-License-Identifier: BSD-3-Clause
// Matrices whose rows have very different lengths, for the tests of ragged rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/shapes.hpp"

namespace trireme::test {

enum class Pattern {
  consecutive,  // from the diagonal on
  strided,      // every third column from the diagonal on
  scattered     // anywhere, unsorted
};

// Rows of 0 to 1024 nonzeros, and some of `cols` / 4.
template <class Value>
CsrMatrix<Value> ragged(std::int64_t rows, std::int64_t cols, Pattern pattern) {
  CsrMatrix<Value> a;
  a.rows = rows;
  a.cols = cols;
  Random random(11);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t kind = random.below(100);
    std::int64_t length = random.below(kind < 80 ? 17 : kind < 98 ? 40 : kind < 99 ? 300 : 1025);
    if (row % 9000 == 700) length = cols / 4;
    const std::int64_t stride = pattern == Pattern::strided ? 3 : 1;
    const std::int64_t first =
        std::clamp<std::int64_t>(row * cols / rows, 0, cols - stride * length);
    for (std::int64_t k = 0; k < length; ++k) {
      const std::int64_t column =
          pattern == Pattern::scattered ? (row * 7919 + k * 104'729) % cols : first + stride * k;
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(random.value<Value>());
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

// The shapes of the contract that have entries, and ragged rows with lanes of one and of two rows,
// in every code of columns.
template <class Value>
std::vector<Shape<Value>> ragged_shapes() {
  auto shapes = contract_shapes<Value>();
  std::erase_if(shapes, [](const Shape<Value>& shape) { return shape.matrix.nnz() == 0; });
  for (const auto& [name, pattern] :
       {std::pair{"Consecutive", Pattern::consecutive}, std::pair{"Strided", Pattern::strided},
        std::pair{"Scattered", Pattern::scattered}}) {
    shapes.push_back({std::string("Ragged") + name, ragged<Value>(9000, 30'000, pattern)});
    shapes.push_back({std::string("LargeRagged") + name, ragged<Value>(250'033, 120'000, pattern)});
  }
  return shapes;
}

}  // namespace trireme::test
