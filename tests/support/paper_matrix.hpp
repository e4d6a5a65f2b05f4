// SPDX-License-Identifier: BSD-3-Clause
// The 8 x 8 matrix A of Wang et al., "TEB", 2023, figures 1 and 2.
#pragma once

#include "sparse/csr.hpp"

namespace trireme::test {

inline CsrMatrix<double> paper_matrix() {
  return {8,
          8,
          {0, 3, 4, 6, 8, 9, 11, 12, 16},
          {2, 6, 7, 0, 3, 7, 0, 1, 6, 4, 5, 4, 0, 5, 6, 7},
          {2, 1, 8, 3, 6, 9, 6, 7, 2, 5, 8, 6, 5, 4, 2, 1}};
}

}  // namespace trireme::test
