// SPDX-License-Identifier: BSD-3-Clause
// The JDS layout: rows sorted from long to short and stored column by column, without padding.
//
// Y. Saad, "Krylov subspace methods on supercomputers", SIAM J. Sci. Stat. Comput. 10 (1989)
// 1200-1232: jagged diagonals. The arrays have the names of the document on COO, CSR, ELL and JDS,
// except that its row_ptr, which is no array of offsets, is row_order.
//
//   | 1 7 . . |     row_order  2 0 1 3     jds_ptr  0 4 8 9
//   | . 2 8 . |
//   | 5 . 3 9 |     cols  0 0 1 1   2 1 2 3   3
//   | . 6 . 4 |     vals  5 1 2 6   3 7 8 4   9
//                         first     second    third entries: three jagged diagonals
//
// Diagonal j has the entries j of the rows that have more than j nonzeros. These are the first
// jds_ptr[j + 1] - jds_ptr[j] sorted rows. Rows of equal length stay in the caller's order.
//
// Bytes moved per nonzero: 12 (double) or 8 (float); per row: 4 for its place in row_order; per
// diagonal: 4. The result is deterministic: one thread sums each row in storage order.
#pragma once

#include <cstdint>

#include "base/array.hpp"

namespace trireme::jds {

// The layout in host memory. Value: double, float.
template <class Value>
struct Layout {
  Array<std::int32_t> row_order;  // the caller's row of each sorted row
  Array<std::int32_t> jds_ptr;    // diagonals + 1: the first entry of each diagonal
  Array<std::int32_t> cols;
  Array<Value> vals;

  std::int64_t rows() const { return static_cast<std::int64_t>(row_order.size()); }
  std::int64_t diagonals() const { return static_cast<std::int64_t>(jds_ptr.size()) - 1; }
  std::int64_t nnz() const { return jds_ptr.back(); }
};

}  // namespace trireme::jds
