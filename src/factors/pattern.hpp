// SPDX-License-Identifier: BSD-3-Clause
// Where incomplete factors L, D and U of a square matrix have entries (Saad, "Iterative Methods for
// Sparse Linear Systems", 2003, section 10.3.3: ILU(p) by levels of fill).
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "factors/options.hpp"
#include "sparse/csr.hpp"

namespace trireme::factors {

// One thread does so few rows.
inline constexpr std::int64_t kRowsOfOneThread = 4096;

// Rows in the order of levels: a row of a level needs rows of earlier levels only.
struct Levels {
  Array<std::int32_t> rows;
  Array<std::int32_t> starts;  // of each level in `rows`, and their number
  std::int64_t count() const { return std::ssize(starts) - 1; }
};

// Rows and columns are positions in the order of elimination. The entries of a row are those of L,
// the diagonal, and those of U, in ascending columns.
struct FactorPattern {
  std::int64_t rows = 0;
  Array<std::int32_t> order;       // the row of A at each position; empty: the same
  Array<std::int32_t> row_ptr{0};  // rows + 1 offsets
  Array<std::int32_t> col_idx;
  Array<std::int32_t> diagonal;  // the entry of the diagonal of each row
  Array<std::int32_t> place;     // the entry that each entry of A adds to
  Levels lower, upper;           // of L, and of U
  // Entry k is entry k of A: the rows, the columns and their order are those of A.
  bool has_entries_of_a = false;

  std::int64_t nnz() const { return std::ssize(col_idx); }
  // The row of A at a position.
  std::int32_t row_of(std::int64_t position) const {
    return order.empty() ? static_cast<std::int32_t>(position) : order[position];
  }
};

// Columns of `a` need not ascend, equal ones add up, and a diagonal that is not stored gets an
// entry. A row of U that is much longer than the others makes no fill, so that a dense row does not
// make a dense matrix. Throws Error{resource} for more than 2^31-1 entries.
FactorPattern make_pattern(const CsrView<double>& a, const IluChoice& choice);

}  // namespace trireme::factors
