// SPDX-License-Identifier: BSD-3-Clause
// Splits rows into contiguous ranges: of about the same number of nonzeros, or of rows.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace trireme {

// The start of an even share of rows, columns or entries, where their work is not known: part p of
// P has [even_share(n, P, p), even_share(n, P, p + 1)).
inline std::int64_t even_share(std::int64_t count, int parts, int part) {
  return count / parts * part + count % parts * part / parts;
}

// Returns parts + 1 boundaries: part p has the rows [result[p], result[p+1]). The weight of a row
// is its nonzeros plus one, so that long runs of empty rows are split too. Each boundary is the row
// that is closest to an equal share of the weight. A part has at most its share plus half a row at
// either end.
//
// entries_before(row) is the number of nonzeros in the rows before `row`.
template <std::invocable<std::int64_t> EntriesBefore>
std::vector<std::int64_t> split_by_nonzeros(std::int64_t rows, const EntriesBefore& entries_before,
                                            int parts) {
  const auto work_before = [&](std::int64_t row) {
    return static_cast<std::int64_t>(entries_before(row)) + row;
  };
  std::vector<std::int64_t> starts(parts + 1, 0);
  const std::int64_t total = rows == 0 ? 0 : work_before(rows);
  for (int part = 1; part < parts; ++part) {
    const auto target = static_cast<std::int64_t>(static_cast<double>(total) * part / parts);
    std::int64_t low = starts[part - 1], high = rows;  // first row with work_before >= target
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (work_before(middle) < target)
        low = middle + 1;
      else
        high = middle;
    }
    if (low > starts[part - 1] && target - work_before(low - 1) < work_before(low) - target) --low;
    starts[part] = low;
  }
  starts[parts] = rows;
  return starts;
}

// The same for the rows of a CSR matrix, whose offsets need not begin at 0.
template <std::integral Offset>
std::vector<std::int64_t> split_by_nonzeros(std::span<const Offset> row_ptr, int parts) {
  const std::int64_t rows = row_ptr.empty() ? 0 : static_cast<std::int64_t>(row_ptr.size()) - 1;
  return split_by_nonzeros(
      rows, [&](std::int64_t row) { return row_ptr[row] - row_ptr[0]; }, parts);
}

}  // namespace trireme
