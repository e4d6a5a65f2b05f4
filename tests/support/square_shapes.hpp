// SPDX-License-Identifier: BSD-3-Clause
// The shapes of the kernel contract as square matrices, for tests of orders of rows.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "support/shapes.hpp"

namespace trireme::test {

// A shape with fewer rows than columns gets empty rows, and one with fewer columns gets empty
// columns.
inline std::vector<Shape<double>> square_shapes() {
  std::vector<Shape<double>> shapes = contract_shapes<double>();
  for (auto& [name, a] : shapes) {
    a.rows = a.cols = std::max(a.rows, a.cols);
    a.row_ptr.resize(a.rows + 1, a.row_ptr.back());
  }
  return shapes;
}

}  // namespace trireme::test
