// SPDX-License-Identifier: BSD-3-Clause
// Copies rows to their new places, and sorts their entries.
#include "sparse/permuted.hpp"

#include <algorithm>
#include <numeric>

namespace trireme {
namespace {

// P A with columns renumbered by `column_of`, and sorted where `sorted` says so.
template <bool sorted, class ColumnOf>
PermutedCsr permuted_csr(const CsrView<double>& a, std::span<const std::int32_t> order,
                         const ColumnOf& column_of) {
  PermutedCsr result;
  CsrMatrix<double>& p = result.matrix;
  p.rows = a.rows;
  p.cols = a.cols;
  p.row_ptr.resize(a.rows + 1);
  p.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < a.rows; ++i)
    p.row_ptr[i + 1] = p.row_ptr[i] + a.row_ptr[order[i] + 1] - a.row_ptr[order[i]];
  p.col_idx.resize(a.nnz());
  p.values.resize(a.nnz());
  result.entries.resize(a.nnz());
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int32_t begin = p.row_ptr[i], end = p.row_ptr[i + 1];
    const auto entries = result.entries.begin();
    std::iota(entries + begin, entries + end, a.row_ptr[order[i]]);
    if constexpr (sorted)
      std::sort(entries + begin, entries + end, [&](std::int32_t k, std::int32_t l) {
        const std::int32_t of_k = column_of(a.col_idx[k]), of_l = column_of(a.col_idx[l]);
        return of_k != of_l ? of_k < of_l : k < l;
      });
    for (std::int32_t k = begin; k < end; ++k) {
      p.col_idx[k] = column_of(a.col_idx[entries[k]]);
      p.values[k] = a.values[entries[k]];
    }
  }
  return result;
}

}  // namespace

Array<std::int32_t> inverse_of(std::span<const std::int32_t> order) {
  Array<std::int32_t> inverse(order.size());
  const auto count = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(static) if (count > 10000)
  for (std::int64_t i = 0; i < count; ++i) inverse[order[i]] = static_cast<std::int32_t>(i);
  return inverse;
}

PermutedCsr permuted_square(const CsrView<double>& a, std::span<const std::int32_t> order) {
  const Array<std::int32_t> inverse = inverse_of(order);
  return permuted_csr<true>(a, order, [&](std::int32_t column) { return inverse[column]; });
}

PermutedCsr permuted_rows(const CsrView<double>& a, std::span<const std::int32_t> order) {
  return permuted_csr<false>(a, order, [](std::int32_t column) { return column; });
}

template <class Value>
void permute(std::span<const Value> x, std::span<const std::int32_t> order,
             std::span<Value> permuted) {
  const auto count = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(static) if (count > 10000)
  for (std::int64_t i = 0; i < count; ++i) permuted[i] = x[order[i]];
}

template <class Value>
void permute_back(std::span<const Value> permuted, std::span<const std::int32_t> order,
                  std::span<Value> x) {
  const auto count = static_cast<std::int64_t>(order.size());
#pragma omp parallel for schedule(static) if (count > 10000)
  for (std::int64_t i = 0; i < count; ++i) x[order[i]] = permuted[i];
}

using Order = std::span<const std::int32_t>;
template void permute(std::span<const double>, Order, std::span<double>);
template void permute(std::span<const float>, Order, std::span<float>);
template void permute_back(std::span<const double>, Order, std::span<double>);
template void permute_back(std::span<const float>, Order, std::span<float>);

}  // namespace trireme
