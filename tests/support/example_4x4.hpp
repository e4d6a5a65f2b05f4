// SPDX-License-Identifier: BSD-3-Clause
// The 4 x 4 matrix on which Bell and Garland (SC 2009, section 2) show CSR, COO, ELL and HYB.
//
//   | 1 7 . . |
//   | . 2 8 . |
//   | 5 . 3 9 |
//   | . 6 . 4 |
#pragma once

#include "sparse/csr.hpp"

namespace trireme::test {

inline CsrMatrix<double> example_4x4() {
  return {.rows = 4,
          .cols = 4,
          .row_ptr = {0, 2, 4, 7, 9},
          .col_idx = {0, 1, 1, 2, 0, 2, 3, 1, 3},
          .values = {1, 7, 2, 8, 5, 3, 9, 6, 4}};
}

}  // namespace trireme::test
