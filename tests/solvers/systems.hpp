// SPDX-License-Identifier: BSD-3-Clause
// Small systems for tests of the resident engine, and the residual of a solution.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "solvers/preconditioners/list.hpp"
#include "sparse/csr.hpp"
#include "support/random.hpp"

namespace trireme::test {

inline CsrMatrix<double> from_dense(const std::vector<std::vector<double>>& dense) {
  CsrMatrix<double> a;
  a.rows = static_cast<std::int64_t>(dense.size());
  a.cols = a.rows;
  for (const std::vector<double>& row : dense) {
    for (std::size_t j = 0; j < row.size(); ++j)
      if (row[j] != 0) {
        a.col_idx.push_back(static_cast<std::int32_t>(j));
        a.values.push_back(row[j]);
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

// -div(c grad u) + wind . grad u on an n x n grid, upwind; c jumps by `contrast` between grid
// points. Symmetric positive definite without wind.
inline CsrMatrix<double> grid_matrix(std::int64_t n, double wind = 0, double contrast = 1) {
  CsrMatrix<double> a;
  a.rows = a.cols = n * n;
  const auto c = [&](std::int64_t x, std::int64_t y) {
    return (x * 7 + y * 13) % 3 == 0 ? contrast : 1.0;
  };
  for (std::int64_t y = 0; y < n; ++y)
    for (std::int64_t x = 0; x < n; ++x) {
      const std::int64_t dx[] = {0, -1, 0, 1, 0}, dy[] = {-1, 0, 0, 0, 1};
      double diagonal = 0;
      std::size_t diagonal_place = 0;
      for (int k = 0; k < 5; ++k) {
        if (k == 2) {
          diagonal_place = a.values.size();
          a.values.push_back(0);
          a.col_idx.push_back(static_cast<std::int32_t>(y * n + x));
          continue;
        }
        const std::int64_t u = x + dx[k], v = y + dy[k];
        const bool inside = u >= 0 && u < n && v >= 0 && v < n;
        const double edge = inside ? 0.5 * (c(x, y) + c(u, v)) : c(x, y);
        const double upwind = k == 1 ? wind : 0;
        diagonal += edge + upwind;
        if (!inside) continue;
        a.values.push_back(-edge - upwind);
        a.col_idx.push_back(static_cast<std::int32_t>(v * n + u));
      }
      a.values[diagonal_place] = diagonal;
      a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
    }
  return a;
}

// The graph Laplacian of a path: symmetric, positive semidefinite, constants in its null space.
inline CsrMatrix<double> path_laplacian(std::int64_t n) {
  std::vector<std::vector<double>> dense(n, std::vector<double>(n, 0.0));
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    dense[i][i] += 1;
    dense[i + 1][i + 1] += 1;
    dense[i][i + 1] = dense[i + 1][i] = -1;
  }
  return from_dense(dense);
}

// Rows of 1 to some 40 nonzeros at random columns, and row 5 with about `longest` nonzeros. The
// matrix is diagonally dominant, with a diagonal that changes from row to row, and symmetric
// positive definite if `skew` is 0.
inline CsrMatrix<double> irregular_matrix(std::int64_t n, double skew = 0,
                                          std::int64_t longest = 700) {
  Random random(11);
  std::vector<std::map<std::int32_t, double>> rows(n);
  const auto connect = [&](std::int64_t i, std::int64_t j, double value) {
    rows[i][static_cast<std::int32_t>(j)] = value * (1 + skew);
    rows[j][static_cast<std::int32_t>(i)] = value;
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = random.below(3) == 0 ? random.below(30) : random.below(4); k > 0; --k)
      if (const std::int64_t j = random.below(n); j < i)
        connect(i, j, -0.5 - 0.1 * static_cast<double>(random.below(10)));
  for (std::int64_t k = 0; k < longest; ++k)
    if (const std::int64_t j = 6 + random.below(n - 6); j > 5) connect(5, j, -0.3);
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (const auto& [column, value] : rows[i]) sum += std::abs(value);
    rows[i][static_cast<std::int32_t>(i)] = sum + 0.01 * static_cast<double>(1 + i % 7);
    for (const auto& [column, value] : rows[i]) {
      a.col_idx.push_back(column);
      a.values.push_back(value);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

// Diagonal blocks [1 1-1e-9; 1-1e-9 1] with the eigenvalues 2 - 1e-9 and 1e-9. In FP32 each block
// becomes [1 1; 1 1], which is singular.
inline CsrMatrix<double> pairs_that_fp32_merges() {
  CsrMatrix<double> a;
  a.rows = a.cols = 64;
  for (std::int32_t i = 0; i < 64; ++i) {
    const std::int32_t first = i / 2 * 2;
    const double off = 1 - 1e-9;
    a.col_idx.insert(a.col_idx.end(), {first, first + 1});
    a.values.insert(a.values.end(), {i == first ? 1 : off, i == first ? off : 1});
    a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

inline Array<double> diagonal_of(const CsrMatrix<double>& a) {
  Array<double> d(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    d[i] = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] == i) d[i] += a.values[k];
  }
  return d;
}

// The entries of the diagonal blocks, in the layout of PreconditionerSpec::blocks.
inline Array<double> blocks_of(const CsrMatrix<double>& a, const solvers::BlockRows& rows) {
  Array<double> blocks(static_cast<std::size_t>(a.rows) * rows.size, 0.0);
  for (std::size_t group = 0; group + 1 < rows.starts.size(); ++group)
    for (std::int64_t i = rows.starts[group]; i < rows.starts[group + 1]; ++i)
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        if (a.col_idx[k] >= rows.starts[group] && a.col_idx[k] < rows.starts[group + 1])
          blocks[i * rows.size + a.col_idx[k] - rows.starts[group]] += a.values[k];
  return blocks;
}

// A 1 - A32 1, where A32 is A with its values in FP32.
inline Array<float> row_defect(const CsrMatrix<double>& a) {
  Array<float> defect(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double lost = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      lost += a.values[k] - static_cast<float>(a.values[k]);
    defect[i] = static_cast<float>(lost);
  }
  return defect;
}

inline Array<double> times(const CsrMatrix<double>& a, std::span<const double> x) {
  Array<double> y(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    long double sum = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      sum += static_cast<long double>(a.values[k]) * x[a.col_idx[k]];
    y[i] = static_cast<double>(sum);
  }
  return y;
}

inline double norm(std::span<const double> x) {
  long double sum = 0;
  for (const double value : x) sum += static_cast<long double>(value) * value;
  return static_cast<double>(std::sqrt(sum));
}

// ||b - A x|| / ||b||
inline double relative_residual(const CsrMatrix<double>& a, std::span<const double> b,
                                std::span<const double> x) {
  Array<double> r = times(a, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return norm(r) / norm(b);
}

// A grid_matrix() of which the rows of the edge are `size` times as large as those of the interior,
// as where a penalty prescribes the values there, and a right-hand side that is as large in these
// rows. ||b - A x|| / ||b|| tells nothing about the interior.
struct HugeRows {
  CsrMatrix<double> a;
  Array<double> b, diagonal, inverse_sizes;

  HugeRows(std::int64_t n, double wind, double size)
      : a(grid_matrix(n, wind)), b(random_vector<double>(a.rows, 7)) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const std::int64_t x = i % n, y = i / n;
      if (x > 0 && y > 0 && x + 1 < n && y + 1 < n) continue;
      b[i] *= size;
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        if (a.col_idx[k] == i) a.values[k] += size;
    }
    diagonal = diagonal_of(a);
    for (const double d : diagonal) inverse_sizes.push_back(1 / d);
  }
  // Right-hand sides of other scales, and one that does not have the sizes of the rows.
  std::vector<Array<double>> columns() const {
    std::vector<Array<double>> all(4, b);
    for (double& value : all[1]) value *= 1e-30;
    all[2] = random_vector<double>(a.rows, 5);
    return all;
  }
  double relative_row_residual(std::span<const double> x) const {
    return relative_row_residual(b, x);
  }
  // ||R (c - A x)|| / ||R c||, where R has one over the size of each row.
  double relative_row_residual(std::span<const double> c, std::span<const double> x) const {
    Array<double> r = times(a, x), scaled(c.begin(), c.end());
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] = inverse_sizes[i] * (c[i] - r[i]);
      scaled[i] *= inverse_sizes[i];
    }
    return norm(r) / norm(scaled);
  }
};

}  // namespace trireme::test
