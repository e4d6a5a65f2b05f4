// SPDX-License-Identifier: BSD-3-Clause
// Finds out whether a pattern is symmetric, and transposes it if not.
#include "ordering/neighbours.hpp"

#include <algorithm>
#include <atomic>

namespace trireme {
namespace {

bool is_ascending(const CsrView<double>& a) {
  int ascending = 1;
#pragma omp parallel for schedule(static) reduction(min : ascending)
  for (std::int64_t i = 0; i < a.rows; ++i)
    if (!std::is_sorted(a.col_idx.begin() + a.row_ptr[i], a.col_idx.begin() + a.row_ptr[i + 1]))
      ascending = 0;
  return ascending == 1;
}

bool has_entry(const CsrView<double>& a, std::int32_t row, std::int32_t column) {
  const std::int32_t* const first = a.col_idx.data() + a.row_ptr[row];
  const std::int32_t* const last = a.col_idx.data() + a.row_ptr[row + 1];
  return std::binary_search(first, last, column);
}

bool is_symmetric(const CsrView<double>& a) {
  if (!is_ascending(a)) return false;
  bool symmetric = true;
  const auto rows = static_cast<std::int32_t>(a.rows);
#pragma omp parallel for schedule(dynamic, 4096)
  for (std::int32_t i = 0; i < rows; ++i) {
    if (!std::atomic_ref(symmetric).load(std::memory_order_relaxed)) continue;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (!has_entry(a, a.col_idx[k], i))
        std::atomic_ref(symmetric).store(false, std::memory_order_relaxed);
  }
  return symmetric;
}

}  // namespace

// Several threads fill a column's list in any order, so that nobody may rely on the order.
Neighbours::Neighbours(const CsrView<double>& a) : a_(a) {
  if (is_symmetric(a)) return;
  const auto rows = static_cast<std::int32_t>(a.rows);
  column_ptr_.assign(a.rows + 1, 0);
  rows_of_columns_.resize(a.nnz());
  Array<std::int32_t> next(a.rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < a.nnz(); ++k)
    std::atomic_ref(column_ptr_[a.col_idx[k] + 1]).fetch_add(1, std::memory_order_relaxed);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    next[i] = column_ptr_[i];
    column_ptr_[i + 1] += column_ptr_[i];
  }
#pragma omp parallel for schedule(dynamic, 4096)
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t place =
          std::atomic_ref(next[a.col_idx[k]]).fetch_add(1, std::memory_order_relaxed);
      rows_of_columns_[place] = i;
    }
}

}  // namespace trireme
