// SPDX-License-Identifier: BSD-3-Clause
// Figures of merit of an order of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme::test {

// The largest distance of an entry from the diagonal.
inline std::int64_t bandwidth_of(const CsrMatrix<double>& a) {
  std::int64_t bandwidth = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      bandwidth = std::max(bandwidth, std::abs(a.col_idx[k] - i));
  return bandwidth;
}

// How many lines of x, of 16 numbers each, `rows_per_block` consecutive rows read, per number of x
// that a block would read if each were used once: 1/16 is the minimum for a square matrix.
inline double lines_per_row(const CsrMatrix<double>& a, std::int64_t rows_per_block) {
  std::int64_t lines = 0;
  std::vector<std::int32_t> of_block;
  for (std::int64_t first = 0; first < a.rows; first += rows_per_block) {
    of_block.clear();
    const std::int64_t last = std::min(first + rows_per_block, a.rows);
    for (std::int32_t k = a.row_ptr[first]; k < a.row_ptr[last]; ++k)
      of_block.push_back(a.col_idx[k] / 16);
    std::sort(of_block.begin(), of_block.end());
    lines += std::unique(of_block.begin(), of_block.end()) - of_block.begin();
  }
  return static_cast<double>(lines) / static_cast<double>(a.rows);
}

}  // namespace trireme::test
