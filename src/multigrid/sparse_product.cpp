// SPDX-License-Identifier: BSD-3-Clause
// Products and transposes of sparse matrices, row by row.
#include "multigrid/sparse_product.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "multigrid/host_place.hpp"
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

// The columns of row i of A B, as members of the set.
template <class Set>
TRIREME_HD void gather_columns(const Rows& a, const Rows& b, bool diagonal, std::int64_t i,
                               Set& set) {
  for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
    const std::int32_t j = a.col_idx[k];
    for (std::int32_t l = b.row_ptr[j]; l < b.row_ptr[j + 1]; ++l) set.insert(b.col_idx[l]);
  }
  if (diagonal) set.insert(static_cast<std::int32_t>(i));
}

struct CountColumns {
  Rows a, b;
  bool diagonal;
  std::int32_t* count;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t i, Set& set) const {
    gather_columns(a, b, diagonal, i, set);
    count[i] = set.size();
    set.clear();
  }
};

struct WriteColumns {
  Rows a, b;
  bool diagonal;
  const std::int32_t* row_ptr;
  std::int32_t* col_idx;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t i, Set& set) const {
    gather_columns(a, b, diagonal, i, set);
    set.take_ascending(col_idx + row_ptr[i]);
  }
};

struct SumRow {
  Rows a, b;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  double* values;

  template <class Set>
  TRIREME_HD void operator()(std::int64_t i, Set& set) const {
    const std::int32_t begin = row_ptr[i], count = row_ptr[i + 1] - begin;
    double* const row = values + begin;
    set.number(col_idx + begin, count);
    for (std::int32_t k = 0; k < count; ++k) row[k] = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const std::int32_t j = a.col_idx[k];
      const double factor = a.values[k];
      for (std::int32_t l = b.row_ptr[j]; l < b.row_ptr[j + 1]; ++l)
        row[set.place(b.col_idx[l])] += factor * b.values[l];
    }
    set.forget(col_idx + begin, count);
  }
};

}  // namespace

CsrMatrix<double> multiply(const CsrView<double>& a, const CsrView<double>& b, Diagonal diagonal) {
  if (a.cols != b.rows)
    fail(ExitCode::internal, "a product of a matrix of {} columns and one of {} rows", a.cols,
         b.rows);
  const bool stored = diagonal == Diagonal::always_stored;
  if (stored && a.rows != b.cols)
    fail(ExitCode::internal, "the diagonal of a product of {} x {}", a.rows, b.cols);
  CsrMatrix<double> c;
  c.rows = a.rows;
  c.cols = b.cols;
  c.row_ptr.resize(a.rows + 1);
  HostPlace::for_each_with_set(a.rows, b.cols,
                               CountColumns{Rows(a), Rows(b), stored, c.row_ptr.data()});
  const std::int64_t nnz = HostPlace::sum_exclusively(c.row_ptr);
  if (nnz > INT32_MAX)
    fail(ExitCode::resource,
         "a coarse matrix of multigrid would have {} nonzeros on one rank, more than 2^31-1; use "
         "more ranks",
         nnz);
  c.col_idx.resize(nnz);
  c.values.resize(nnz);
  HostPlace::for_each_with_set(
      a.rows, b.cols, WriteColumns{Rows(a), Rows(b), stored, c.row_ptr.data(), c.col_idx.data()});
  multiply_again(a, b, c);
  return c;
}

void multiply_again(const CsrView<double>& a, const CsrView<double>& b,
                    CsrMatrix<double>& product) {
  HostPlace::for_each_with_set(product.rows, product.cols,
                               SumRow{Rows(a), Rows(b), product.row_ptr.data(),
                                      product.col_idx.data(), product.values.data()});
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
