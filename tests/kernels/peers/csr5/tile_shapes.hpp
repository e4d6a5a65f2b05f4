// SPDX-License-Identifier: BSD-3-Clause
// The tile shapes and the example with which CSR5 is tested.
#pragma once

#include <vector>

#include "kernels/peers/csr5/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::test {

// Shapes with one descriptor word and with two, of one lane, of one step, and the largest.
inline std::vector<csr5::TileShape> csr5_tile_shapes() {
  return {{1, 1}, {1, 5}, {7, 1}, {4, 4}, {5, 3}, {32, 4}, {32, 16}, {32, 17}, {32, 32}};
}

// The drawing in layout.hpp. Nonzero k has the value k + 1.
inline CsrMatrix<double> csr5_drawing() {
  CsrMatrix<double> a{8, 8, {0, 3, 3, 9, 10, 18, 26, 29, 34}, {}, {}};
  a.col_idx = {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 0, 1, 2, 3, 4, 5, 6,
               7, 0, 1, 2, 3, 4, 5, 6, 7, 5, 6, 7, 0, 2, 4, 6, 7};
  for (int k = 0; k < 34; ++k) a.values.push_back(k + 1);
  return a;
}

}  // namespace trireme::test
