// SPDX-License-Identifier: BSD-3-Clause
// Rows that are padded to one width and stored column by column: the ELLPACK format, and its
// product on the host. The kernels ell and hyb store rows in this format.
//
// D. R. Kincaid, J. R. Respess, D. M. Young and R. G. Grimes, "Algorithm 586: ITPACK 2C", ACM TOMS
// 8 (1982) 302-322; N. Bell and M. Garland, SC 2009: the column by column order for GPUs. The
// arrays have the names of the document on COO, CSR, ELL and JDS, whose max_length is the width.
//
//   | 1 7 . . |     width 3     cols  0 1 0 1   1 2 2 3   * * 3 *
//   | . 2 8 . |                 vals  1 2 5 6   7 8 3 4   0 0 9 0
//   | 5 . 3 9 |                       first     second    third entries of all rows
//   | . 6 . 4 |
//
// * is the mark of padding, kNoColumn. Column 0 would not do: its product with the value 0 makes
//   NaN
// of an infinite x[0] in every padded row.
//
// Bytes moved per stored entry: 12 (double) or 8 (float), beside x and y. The result is
// deterministic: one thread sums each row in storage order.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

inline constexpr std::int32_t kNoColumn = -1;

template <class Value>
struct PaddedRows {
  std::int64_t rows = 0, width = 0;
  Array<std::int32_t> cols;  // entry j of a row is at j * rows + row
  Array<Value> vals;         // 0 where cols has kNoColumn

  std::int64_t entries() const { return rows * width; }  // with padding
  std::int64_t bytes() const {
    return entries() * static_cast<std::int64_t>(sizeof(Value) + sizeof(std::int32_t));
  }
};

// Takes the first `width` entries of each row, in their order. Value: double, float.
template <class Value>
PaddedRows<Value> pad_rows(const CsrView<Value>& a, std::int64_t width);

// Stores the values of `a`, which has the pattern that `padded` was made from.
template <class Value>
void fill_values(const CsrView<Value>& a, PaddedRows<Value>& padded);

// y = A x, or y += A x.
template <class Value>
void multiply(const PaddedRows<Value>& padded, std::span<const Value> x, std::span<Value> y,
              Accumulate accumulate);

}  // namespace trireme
