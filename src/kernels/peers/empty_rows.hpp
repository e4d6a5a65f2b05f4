// SPDX-License-Identifier: BSD-3-Clause
// The rows without nonzeros, for layouts that store no entry for them.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"

namespace trireme {

// The empty rows of a CSR, in ascending order. `row_ptr` has rows + 1 offsets.
inline Array<std::int32_t> find_empty_rows(std::span<const std::int32_t> row_ptr) {
  Array<std::int32_t> rows;
  for (std::int64_t row = 0; row + 1 < std::ssize(row_ptr); ++row)
    if (row_ptr[row] == row_ptr[row + 1]) rows.push_back(static_cast<std::int32_t>(row));
  return rows;
}

// Sets the given rows of y to zero, as y = A x asks.
template <class Value>
void zero_rows(std::span<const std::int32_t> rows, std::span<Value> y) {
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < std::ssize(rows); ++k) y[rows[k]] = Value{};
}

}  // namespace trireme
