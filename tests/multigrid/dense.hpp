// SPDX-License-Identifier: BSD-3-Clause
// Dense matrices and small sparse ones for the tests of multigrid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <vector>

#include "multigrid/level_matrix.hpp"
#include "sparse/csr.hpp"
#include "sparse/generators.hpp"
#include "support/random.hpp"
#include "support/shapes.hpp"

namespace trireme::multigrid::test {

struct DenseMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<long double> values;

  DenseMatrix(std::int64_t r, std::int64_t c) : rows(r), cols(c), values(r * c, 0) {}
  explicit DenseMatrix(const CsrView<double>& a) : DenseMatrix(a.rows, a.cols) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        (*this)(i, a.col_idx[k]) += a.values[k];
  }
  long double& operator()(std::int64_t i, std::int64_t j) { return values[i * cols + j]; }
  long double operator()(std::int64_t i, std::int64_t j) const { return values[i * cols + j]; }

  DenseMatrix transposed() const {
    DenseMatrix t(cols, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) t(j, i) = (*this)(i, j);
    return t;
  }
  friend DenseMatrix operator*(const DenseMatrix& a, const DenseMatrix& b) {
    DenseMatrix c(a.rows, b.cols);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = 0; k < a.cols; ++k)
        if (a(i, k) != 0)
          for (std::int64_t j = 0; j < b.cols; ++j) c(i, j) += a(i, k) * b(k, j);
    return c;
  }
};

// max |a_ij - b_ij|, or infinity for different sizes and for NaN.
inline double difference(const DenseMatrix& a, const DenseMatrix& b) {
  if (a.rows != b.rows || a.cols != b.cols) return INFINITY;
  double worst = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k) {
    const auto d = static_cast<double>(std::abs(a.values[k] - b.values[k]));
    if (!(d <= worst)) worst = std::isnan(d) ? INFINITY : d;
  }
  return worst;
}

// Rows of at most 9 nonzeros, whose columns are in no order.
inline CsrMatrix<double> random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  return trireme::test::matrix_with_row_lengths<double>(
      trireme::test::random_lengths(rows, 0, std::min<std::int64_t>(cols, 9), seed), cols, seed,
      trireme::test::Columns::unsorted);
}

using Entry = std::tuple<std::int32_t, std::int32_t, double>;  // row, column, value; rows ascend
inline CsrMatrix<double> matrix_of(std::int64_t rows, std::int64_t cols,
                                   const std::vector<Entry>& entries) {
  CsrMatrix<double> a;
  a.rows = rows;
  a.cols = cols;
  a.row_ptr.assign(rows + 1, 0);
  for (const auto& [row, col, value] : entries) {
    ++a.row_ptr[row + 1];
    a.col_idx.push_back(col);
    a.values.push_back(value);
  }
  for (std::int64_t i = 0; i < rows; ++i) a.row_ptr[i + 1] += a.row_ptr[i];
  return a;
}

inline CsrMatrix<double> generated(const char* kind, std::int64_t n) {
  const GenerateSpec spec{kind, n};
  return generate(spec, 0, generator_shape(spec).rows).local;
}

inline LocalRows without_ghosts(const CsrMatrix<double>& a) { return {a.view(), 0, {}}; }

// The rigid-body modes of the nodes of elasticity3d n, 6 per row.
inline std::vector<double> rigid_body_modes(std::int64_t n) {
  std::vector<double> values(n * n * n * 18, 0.0);
  for (std::int64_t node = 0; node < n * n * n; ++node) {
    const double x = static_cast<double>(node % n), y = static_cast<double>(node / n % n),
                 z = static_cast<double>(node / n / n);
    double* const v = values.data() + node * 18;
    v[0] = v[7] = v[14] = 1;
    v[3] = -y, v[9] = x;
    v[10] = -z, v[16] = y;
    v[5] = z, v[17] = -x;
  }
  return values;
}

}  // namespace trireme::multigrid::test
