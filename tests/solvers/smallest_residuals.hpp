// SPDX-License-Identifier: BSD-3-Clause
// What the methods of minimal residuals are measured by.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sparse/csr.hpp"

namespace trireme::test {

// min ||b - A y|| over the Krylov space of each dimension, computed by Arnoldi with full
// orthogonalisation in long double.
inline std::vector<double> smallest_residuals(const CsrMatrix<double>& a, std::span<const double> b,
                                              int steps) {
  using Vector = std::vector<long double>;
  const std::int64_t n = a.rows;
  const auto dot = [&](const Vector& x, const Vector& y) {
    long double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
  };
  std::vector<Vector> images;  // an orthonormal basis of A K
  Vector r(b.begin(), b.end()), v = r;
  std::vector<double> norms{static_cast<double>(std::sqrt(dot(r, r)))};
  for (int step = 0; step < steps; ++step) {
    Vector image(n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        image[i] += a.values[k] * v[a.col_idx[k]];
    for (int twice = 0; twice < 2; ++twice)
      for (const Vector& q : images) {
        const long double part = dot(image, q);
        for (std::int64_t i = 0; i < n; ++i) image[i] -= part * q[i];
      }
    const long double length = std::sqrt(dot(image, image));
    for (long double& value : image) value /= length;
    const long double part = dot(r, image);
    for (std::int64_t i = 0; i < n; ++i) r[i] -= part * image[i];
    norms.push_back(static_cast<double>(std::sqrt(dot(r, r))));
    images.push_back(image);
    v = image;  // K_{j+1} is spanned by b and A K_j
  }
  return norms;
}

}  // namespace trireme::test
