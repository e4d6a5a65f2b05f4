// SPDX-License-Identifier: BSD-3-Clause
// All threads take part; what their sums lose by rounding is far below what a decision looks at.
#include "sparse/skew_sums.hpp"

namespace trireme {

Array<RandomPair> random_pairs(std::int64_t first, std::int64_t count) {
  Array<RandomPair> pairs(count);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) pairs[i] = RandomPair(first + i);
  return pairs;
}

SkewSums skew_sums(const CsrView<double>& csr, std::int64_t first_row,
                   std::span<const RandomPair> columns) {
  double difference = 0, magnitude = 0;
#pragma omp parallel for schedule(static) reduction(+ : difference, magnitude)
  for (std::int64_t i = 0; i < csr.rows; ++i) {
    if (csr.row_ptr[i] == csr.row_ptr[i + 1]) continue;
    const RandomPair row(first_row + i);
    SkewSums sums;
    for (std::int32_t k = csr.row_ptr[i]; k < csr.row_ptr[i + 1]; ++k)
      sums += skew_of(csr.values[k], row, columns[csr.col_idx[k]]);
    difference += sums.difference;
    magnitude += sums.magnitude;
  }
  return {difference, magnitude};
}

}  // namespace trireme
