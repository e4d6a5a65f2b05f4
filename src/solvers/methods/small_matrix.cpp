// SPDX-License-Identifier: BSD-3-Clause
// Cholesky's method for the small matrices of block methods.
#include "solvers/methods/small_matrix.hpp"

#include <cmath>
#include <iterator>

namespace trireme::solvers {

SmallMatrix scaled(double factor, SmallMatrix a) {
  for (std::size_t k = 0; k < a.size(); ++k) a.data()[k] *= factor;
  return a;
}

std::optional<SmallMatrix> cholesky(SmallMatrix a) {
  const std::int64_t n = a.rows();
  for (std::int64_t k = 0; k < n; ++k) {
    double pivot = a(k, k);
    for (std::int64_t j = 0; j < k; ++j) pivot -= a(k, j) * a(k, j);
    if (!(pivot > 0) || !std::isfinite(pivot)) return std::nullopt;
    a(k, k) = std::sqrt(pivot);
    for (std::int64_t i = k + 1; i < n; ++i) {
      double value = a(i, k);
      for (std::int64_t j = 0; j < k; ++j) value -= a(i, j) * a(k, j);
      a(i, k) = value / a(k, k);
    }
  }
  return a;
}

SmallMatrix solve_cholesky(const SmallMatrix& l, SmallMatrix b) {
  const std::int64_t n = l.rows();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < b.cols(); ++c) {
      for (std::int64_t k = 0; k < i; ++k) b(i, c) -= l(i, k) * b(k, c);
      b(i, c) /= l(i, i);
    }
  for (std::int64_t i = n - 1; i >= 0; --i)
    for (std::int64_t c = 0; c < b.cols(); ++c) {
      for (std::int64_t k = i + 1; k < n; ++k) b(i, c) -= l(k, i) * b(k, c);
      b(i, c) /= l(i, i);
    }
  return b;
}

SmallMatrix orthonormal_basis(const SmallMatrix& gram, double tolerance) {
  const std::int64_t n = gram.rows();
  std::vector<double> scale(n), left(n);  // 1 / length; the squared distance from the span so far
  for (std::int64_t i = 0; i < n; ++i) {
    scale[i] = gram(i, i) > 0 ? 1 / std::sqrt(gram(i, i)) : 0;
    left[i] = scale[i] > 0 ? 1 : 0;
  }
  SmallMatrix l(n, n);  // row i belongs to column i of W, column k to the k-th column taken
  std::vector<std::int64_t> taken;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t next = 0;
    for (std::int64_t i = 1; i < n; ++i)
      if (left[i] > left[next]) next = i;
    if (!(left[next] > tolerance * tolerance)) break;
    const double pivot = std::sqrt(left[next]);
    for (std::int64_t i = 0; i < n; ++i) {
      if (left[i] == 0) continue;
      double value = gram(i, next) * scale[i] * scale[next];
      for (std::int64_t j = 0; j < k; ++j) value -= l(i, j) * l(next, j);
      l(i, k) = value / pivot;
    }
    l(next, k) = pivot;
    taken.push_back(next);
    for (std::int64_t i = 0; i < n; ++i) left[i] -= l(i, k) * l(i, k);
    for (const std::int64_t i : taken) left[i] = 0;
  }
  // The columns taken, scaled, are Q L^T; T holds scale L^-T.
  const std::int64_t rank = std::ssize(taken);
  SmallMatrix t(n, rank);
  for (std::int64_t c = 0; c < rank; ++c) {
    t(taken[c], c) = 1 / l(taken[c], c);
    for (std::int64_t i = c - 1; i >= 0; --i) {
      double value = 0;
      for (std::int64_t k = i + 1; k <= c; ++k) value -= l(taken[k], i) * t(taken[k], c);
      t(taken[i], c) = value / l(taken[i], i);
    }
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < rank; ++c) t(i, c) *= scale[i];
  return t;
}

}  // namespace trireme::solvers
