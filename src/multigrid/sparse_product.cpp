// SPDX-License-Identifier: BSD-3-Clause
// Products and transposes of sparse matrices, row by row.
#include "multigrid/sparse_product.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "multigrid/host_place.hpp"
#include "multigrid/make_rows.hpp"
#include "multigrid/product_row.hpp"
#include "multigrid/refusals.hpp"

namespace trireme::multigrid {

CsrMatrix<double> multiply(const CsrView<double>& a, const CsrView<double>& b,
                           const ProductRules& rules) {
  check_product({a.rows, a.cols, b.rows, b.cols}, rules.diagonal);
  return with_width(rules.run, [&](auto width) {
    return make_rows<width>(
        a.rows, b.cols, rules.order,
        ProductRow<width>{MatrixPointers(a), MatrixPointers(b), rules.diagonal});
  });
}

void multiply_again(const CsrView<double>& a, const CsrView<double>& b, const ProductRules& rules,
                    CsrMatrix<double>& product) {
  with_width(rules.run, [&](auto width) {
    refill_rows<width>(product,
                       ProductRow<width>{MatrixPointers(a), MatrixPointers(b), rules.diagonal});
  });
}

// Each of `parts` threads counts and later places the entries of its own rows, so that the entries
// of a column stand in the order of the rows.
TransposedPattern transposed_pattern(std::int64_t cols, std::span<const std::int32_t> row_ptr,
                                     std::span<const std::int32_t> col_idx) {
  TransposedPattern t;
  const auto rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
  const auto nnz = static_cast<std::int64_t>(col_idx.size());
  t.row_ptr.resize(cols + 1);
  t.col_idx.resize(nnz);
  t.source.resize(nnz);
  const int parts = static_cast<int>(std::clamp<std::int64_t>(
      nnz / (4 * std::max<std::int64_t>(cols, 1000)), 1, omp_get_max_threads()));
  std::vector<Array<std::int32_t>> next(parts);
  const auto first_row = [&](int part) { return rows * part / parts; };
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int part = 0; part < parts; ++part) {
    next[part].assign(cols, 0);
    for (std::int32_t k = row_ptr[first_row(part)]; k < row_ptr[first_row(part + 1)]; ++k)
      ++next[part][col_idx[k]];
  }
  std::int32_t total = 0;
  for (std::int64_t c = 0; c < cols; ++c) {
    t.row_ptr[c] = total;
    for (Array<std::int32_t>& counts : next) total += std::exchange(counts[c], total);
  }
  t.row_ptr[cols] = total;
#pragma omp parallel for schedule(static) num_threads(parts)
  for (int part = 0; part < parts; ++part)
    for (std::int64_t i = first_row(part); i < first_row(part + 1); ++i)
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        const std::int32_t at = next[part][col_idx[k]]++;
        t.col_idx[at] = static_cast<std::int32_t>(i);
        t.source[at] = k;
      }
  return t;
}

Transposed transposed(const CsrView<double>& a) {
  TransposedPattern pattern = transposed_pattern(a.cols, a.row_ptr, a.col_idx);
  Transposed t{{a.cols, a.rows, std::move(pattern.row_ptr), std::move(pattern.col_idx), {}},
               std::move(pattern.source)};
  t.matrix.values.resize(a.nnz());
  t.renew(a);
  return t;
}

void Transposed::renew(const CsrView<double>& a) {
  HostPlace::for_each(a.nnz(), [&](std::int64_t k) { matrix.values[k] = a.values[source[k]]; });
}

CsrMatrix<double> transpose(const CsrView<double>& a) { return transposed(a).matrix; }

}  // namespace trireme::multigrid
