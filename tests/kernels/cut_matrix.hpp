// SPDX-License-Identifier: BSD-3-Clause
// A matrix in one block of rows, and the same matrix in several.
#pragma once

#include <string>
#include <utility>

#include "sparse/csr.hpp"
#include "support/shapes.hpp"

namespace trireme::test {

struct CutMatrix {
  std::string name;
  CsrMatrix<double> whole, cut;
};

// Blocks of 2, 3 and 2 rows, of which the second one has no entries.
inline CutMatrix block_without_entries() {
  CsrMatrix<double> a = matrix_with_row_lengths<double>({3, 2, 0, 0, 0, 4, 1}, 8);
  CsrMatrix<double> cut = a;
  cut.cuts = {2, 5};
  cut.row_ptr = {0, 3, 5, 0, 0, 0, 0, 0, 4, 5};
  return {"ABlockWithoutEntries", std::move(a), std::move(cut)};
}

}  // namespace trireme::test
