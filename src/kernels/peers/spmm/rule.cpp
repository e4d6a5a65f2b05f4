// SPDX-License-Identifier: BSD-3-Clause
// Decides from the row lengths and from the number of vectors.
#include "kernels/peers/spmm/rule.hpp"

namespace trireme::spmm {

bool uneven_rows(std::span<const std::int32_t> row_ptr) {
  const auto rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
  if (rows < 1) return false;
  std::int64_t squares = 0;  // at most nnz * nnz, which fits
#pragma omp parallel for schedule(static) reduction(+ : squares)
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t length = row_ptr[row + 1] - row_ptr[row];
    squares += length * length;
  }
  const double mean = static_cast<double>(row_ptr[rows]) / static_cast<double>(rows);
  return static_cast<double>(squares) / static_cast<double>(rows) > 2 * mean * mean;
}

SpmmSplit choose_split(std::int64_t vectors, bool uneven) {
  if (vectors >= kLanes) return uneven ? SpmmSplit::nnz_cache : SpmmSplit::row_warp;
  if (vectors > 4) return uneven ? SpmmSplit::nnz_tile : SpmmSplit::row_thread;
  return uneven ? SpmmSplit::nnz_warp : SpmmSplit::row_reduce;
}

}  // namespace trireme::spmm
