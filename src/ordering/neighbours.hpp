// SPDX-License-Identifier: BSD-3-Clause
// The undirected graph of a square matrix: row i has the neighbours that its own columns name, and
// those rows whose columns name i.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "sparse/csr.hpp"

namespace trireme {

class Neighbours {
 public:
  // Keeps a view of `a`. A symmetric pattern with ascending columns needs no memory; another one
  // needs 4 bytes per nonzero for the pattern of A^T.
  explicit Neighbours(const CsrView<double>& a);

  std::int64_t rows() const { return a_.rows; }
  // The number of stored entries in row i, and in column i unless the pattern is symmetric.
  std::int32_t degree(std::int32_t i) const {
    return length(a_.row_ptr, i) + (column_ptr_.empty() ? 0 : length(column_ptr_, i));
  }
  // Calls visit(j) for each neighbour of i: for i itself too, and several times for some.
  template <class Visit>
  void for_each(std::int32_t i, const Visit& visit) const {
    for (std::int32_t k = a_.row_ptr[i]; k < a_.row_ptr[i + 1]; ++k) visit(a_.col_idx[k]);
    if (column_ptr_.empty()) return;
    for (std::int32_t k = column_ptr_[i]; k < column_ptr_[i + 1]; ++k) visit(rows_of_columns_[k]);
  }

 private:
  static std::int32_t length(std::span<const std::int32_t> ptr, std::int32_t i) {
    return ptr[i + 1] - ptr[i];
  }

  CsrView<double> a_;
  Array<std::int32_t> column_ptr_, rows_of_columns_;  // empty for a symmetric pattern
};

}  // namespace trireme
