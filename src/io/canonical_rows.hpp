// SPDX-License-Identifier: BSD-3-Clause
// Checks of entries that were read, and the canonical order of rows: ascending columns, no
// duplicates.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "sparse/csr.hpp"

namespace trireme {

// The position of the first index outside [0, bound); empty where there is none.
std::optional<std::int64_t> first_out_of_range(std::span<const std::int32_t> indices,
                                               std::int64_t bound);
// The position of the first NaN or infinity; empty where there is none.
std::optional<std::int64_t> first_not_finite(std::span<const double> values);

// Whether a number is NaN or infinite; whether an index lies outside [0, bound).
inline bool is_not_finite(double value) {
  return !(std::abs(value) <= std::numeric_limits<double>::max());
}
inline bool is_out_of_range(std::int32_t index, std::int64_t bound) {
  return index < 0 || index >= bound;
}

// The row that holds the entry, of which row_ptr and cuts suffice.
std::int64_t row_of_entry(const CsrMatrix<double>& matrix, std::int64_t entry);

// What make_rows_canonical() found.
struct CanonicalRows {
  bool were_in_order = true;  // no entry was moved
  std::int64_t summed = 0;    // entries that were added to another
};

// Sorts the rows whose columns do not ascend, and adds up duplicates in the order in which they are
// stored, as scipy does. Rows in order are only read. Takes 16 bytes per nonzero of the longest row
// as temporary memory, for each thread.
CanonicalRows make_rows_canonical(CsrMatrix<double>& matrix);
CanonicalRows make_rows_canonical(RowSlab& slab);

}  // namespace trireme
