// SPDX-License-Identifier: BSD-3-Clause
// Each thread has sums of its own, which are added in the order of the threads.
#include "sparse/skew_sketch.hpp"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace trireme {

double SkewSketch::skew() const {
  constexpr double kMeanSquare = 1 + 1.0 / 48;  // of an entry of u or v
  double of_sums = 0;
  for (std::int32_t i = 0; i < kSums; ++i) of_sums += sums[i] * sums[i];
  if (squares == 0) return 0;
  return std::min(1.0, std::sqrt(of_sums / squares) / kMeanSquare / 2);
}

Array<RandomPair> random_pairs(std::int64_t first, std::int64_t count) {
  Array<RandomPair> pairs(count);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) pairs[i] = RandomPair(first + i);
  return pairs;
}

SkewSketch skew_sketch(const CsrView<double>& csr, std::int64_t first_row,
                       std::span<const RandomPair> columns, double unit) {
  std::vector<SkewSketch> of_threads(omp_get_max_threads());
#pragma omp parallel
  {
    SkewSketch own;
#pragma omp for schedule(static) nowait
    for (std::int64_t i = 0; i < csr.rows; ++i) {
      const RandomPair row(first_row + i);
      for (std::int32_t k = csr.row_ptr[i]; k < csr.row_ptr[i + 1]; ++k)
        own.take(csr.values[k] / unit, row, columns[csr.col_idx[k]]);
    }
    of_threads[omp_get_thread_num()] = own;
  }
  SkewSketch sketch;
  for (const SkewSketch& own : of_threads) sketch += own;
  return sketch;
}

}  // namespace trireme
