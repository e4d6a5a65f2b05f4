// SPDX-License-Identifier: BSD-3-Clause
// Products and transposes of sparse matrices, row by row.
#include "multigrid/sparse_product.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "multigrid/host_place.hpp"
#include "multigrid/make_rows.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {
namespace {

// Plain pointers of a matrix, for functors.
struct Rows {
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;

  explicit Rows(const CsrView<double>& a)
      : row_ptr(a.row_ptr.data()), col_idx(a.col_idx.data()), values(a.values.data()) {}
};

// Adds up row i of A B, where the rows of B consist of runs.
template <int kWidth>
struct ProductRow {
  Rows a, b;
  bool diagonal;

  template <class Sums>
  TRIREME_HD void operator()(std::int64_t i, Sums& sums) const {
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col_idx[k];
      const double factor = a.values[k];
      for (std::int32_t l = b.row_ptr[j]; l < b.row_ptr[j + 1]; l += kWidth) {
        double* const run = sums.at(b.col_idx[l] / kWidth);
        for (int c = 0; c < kWidth; ++c) run[c] += factor * b.values[l + c];
      }
    }
    if (diagonal) sums.insert(static_cast<std::int32_t>(i) / kWidth);
  }
};

}  // namespace

CsrMatrix<double> multiply(const CsrView<double>& a, const CsrView<double>& b,
                           const ProductRules& rules) {
  if (a.cols != b.rows)
    fail(ExitCode::internal, "a product of a matrix of {} columns and one of {} rows", a.cols,
         b.rows);
  if (rules.diagonal && a.rows > b.cols)
    fail(ExitCode::internal, "the diagonal of a product of {} x {}", a.rows, b.cols);
  return with_width(rules.run, [&](auto width) {
    return make_rows<width>(a.rows, b.cols, rules.order,
                            ProductRow<width>{Rows(a), Rows(b), rules.diagonal});
  });
}

void multiply_again(const CsrView<double>& a, const CsrView<double>& b, const ProductRules& rules,
                    CsrMatrix<double>& product) {
  with_width(rules.run, [&](auto width) {
    refill_rows<width>(product, ProductRow<width>{Rows(a), Rows(b), rules.diagonal});
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
