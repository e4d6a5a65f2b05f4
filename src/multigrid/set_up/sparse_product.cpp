// SPDX-License-Identifier: BSD-3-Clause
// Products and transposes of sparse matrices, row by row.
#include "multigrid/set_up/sparse_product.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "multigrid/refusals.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/product_row.hpp"
#include "multigrid/set_up/sort_by_key.hpp"

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

TransposedPattern transposed_pattern(std::int64_t cols, std::span<const std::int32_t> row_ptr,
                                     std::span<const std::int32_t> col_idx) {
  struct Entry {
    std::int32_t row, place;
  };
  TransposedPattern t;
  const auto rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
  const int parts = parts_to_sort(std::ssize(col_idx), cols);
  t.row_ptr = sort_by_key(
      cols, parts,
      [&](int part, const auto& visit) {
        for (std::int64_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i)
          for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
            visit(col_idx[k], Entry{static_cast<std::int32_t>(i), k});
      },
      [&](std::int64_t nnz) {
        t.col_idx.resize(nnz);
        t.source.resize(nnz);
      },
      [&](std::int32_t at, Entry entry) {
        t.col_idx[at] = entry.row;
        t.source[at] = entry.place;
      });
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
