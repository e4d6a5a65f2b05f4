// SPDX-License-Identifier: BSD-3-Clause
// P A P^T and P x by their definitions: the reference for the permutations on the device.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>

#include "sparse/csr.hpp"
#include "support/random.hpp"

namespace trireme::test {

// order[i] is the old row of the new row i. The entries of a row keep their order.
inline CsrMatrix<double> permuted_csr(const CsrMatrix<double>& a,
                                      std::span<const std::int32_t> order) {
  Array<std::int32_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<std::int32_t>(i);
  CsrMatrix<double> result;
  result.rows = a.rows;
  result.cols = a.cols;
  for (const std::int32_t row : order) {
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      result.col_idx.push_back(inverse[a.col_idx[k]]);
      result.values.push_back(a.values[k]);
    }
    result.row_ptr.push_back(static_cast<std::int32_t>(result.values.size()));
  }
  return result;
}

inline Array<double> permuted_vector(std::span<const double> x,
                                     std::span<const std::int32_t> order) {
  Array<double> result(x.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[i] = x[order[i]];
  return result;
}

inline Array<std::int32_t> random_order(std::int64_t rows, std::uint64_t seed = 3) {
  Random random(seed);
  Array<std::int32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t k = rows; k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
  return order;
}

}  // namespace trireme::test
