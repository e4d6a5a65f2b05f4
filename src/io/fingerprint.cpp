// SPDX-License-Identifier: BSD-3-Clause
// Adds up the hashes of rows, and of entries of vectors.
#include "io/fingerprint.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trireme {

std::uint64_t fingerprint(const RowSlab& rows) {
  const CsrMatrix<double>& local = rows.local;
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t i = 0; i < local.rows; ++i) {
    const std::int64_t first = local.row_ptr[i];
    const std::size_t count = static_cast<std::size_t>(local.row_ptr[i + 1] - first);
    const std::uint64_t columns =
        XXH3_64bits_withSeed(local.col_idx.data() + first, count * sizeof(std::int32_t),
                             static_cast<std::uint64_t>(rows.first_row + i));
    sum += XXH3_64bits_withSeed(local.values.data() + first, count * sizeof(double), columns);
  }
  return sum;
}

std::uint64_t fingerprint(std::span<const double> vector, std::int64_t first_row,
                          std::int64_t column) {
  const std::int64_t count = std::ssize(vector);
  const auto of_column = static_cast<std::uint64_t>(column);
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t i = 0; i < count; ++i) {
    const struct {
      std::int64_t row;
      double value;
    } entry{first_row + i, vector[i]};
    sum += XXH3_64bits_withSeed(&entry, sizeof(entry), of_column);
  }
  return sum;
}

}  // namespace trireme
