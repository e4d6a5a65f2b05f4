// SPDX-License-Identifier: BSD-3-Clause
// Checks of entries just read, and rows put in canonical order: ascending columns, no duplicates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sparse/csr.hpp"

namespace trireme {

// Position of the first index outside [0, bound).
std::optional<std::int64_t> first_out_of_range(std::span<const std::int32_t> indices,
                                               std::int64_t bound);
// Position of the first NaN or infinity.
std::optional<std::int64_t> first_not_finite(std::span<const double> values);

// The row that holds the entry.
std::int64_t row_of_entry(std::span<const std::int32_t> row_ptr, std::int64_t entry);

// Sorts the rows whose columns do not ascend and sums duplicates in the order in which they were
// stored, as scipy and Matrix Market mean them. Returns how many entries vanished by that. Rows
// already in order are only looked at. Temporary memory: 16 bytes a nonzero of the longest row.
std::int64_t make_rows_canonical(CsrMatrix<double>& matrix);

}  // namespace trireme
