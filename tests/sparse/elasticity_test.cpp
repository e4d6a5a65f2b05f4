// SPDX-License-Identifier: BSD-3-Clause
// Tests that the elasticity problem is a symmetric positive definite assembly of brick elements.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sparse/generators.hpp"
#include "sparse/hexahedron.hpp"
#include "sparse/statistics.hpp"

namespace trireme {
namespace {

CsrMatrix<double> elastic_matrix(const std::string& kind, std::int64_t n) {
  const GenerateSpec spec{.kind = kind, .n = n};
  return generate(spec, 0, generator_shape(spec).rows).local;
}

std::vector<double> to_dense(const CsrMatrix<double>& a) {
  std::vector<double> dense(a.rows * a.cols, 0.0);
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      dense[row * a.cols + a.col_idx[k]] += a.values[k];
  return dense;
}

// The smallest pivot of a dense Cholesky factorisation. It is positive for a positive definite
// matrix only.
double smallest_cholesky_pivot(std::vector<double> a, std::int64_t n) {
  double smallest = INFINITY;
  for (std::int64_t j = 0; j < n; ++j) {
    double pivot = a[j * n + j];
    for (std::int64_t k = 0; k < j; ++k) pivot -= a[j * n + k] * a[j * n + k];
    smallest = std::fmin(smallest, pivot);
    if (!(pivot > 0)) return smallest;
    const double root = a[j * n + j] = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::int64_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = sum / root;
    }
  }
  return smallest;
}

TEST(Hexahedron, ResistsNoRigidMotionButEveryStrain) {
  const ElementStiffness k = hexahedron_stiffness();
  const auto energy = [&](auto displacement) {  // of the displacement field u(x, y, z)
    double u[24], sum = 0;
    for (int node = 0; node < 8; ++node) {
      const auto at = displacement(node & 1, node >> 1 & 1, node >> 2 & 1);
      for (int i = 0; i < 3; ++i) u[3 * node + i] = at[i];
    }
    for (int r = 0; r < 24; ++r)
      for (int c = 0; c < 24; ++c) sum += u[r] * k[r][c] * u[c];
    return sum;
  };
  using Vector = std::array<double, 3>;
  EXPECT_NEAR(energy([](double, double, double) { return Vector{1, 2, 3}; }), 0, 1e-13);
  EXPECT_NEAR(energy([](double x, double y, double) { return Vector{-y, x, 0}; }), 0, 1e-13);
  EXPECT_NEAR(energy([](double, double y, double z) { return Vector{0, -z, y}; }), 0, 1e-13);
  // Uniform stretch along x: the energy is (lambda + 2 mu) e^2 times the volume.
  const double lambda = 0.3 / (1.3 * 0.4), mu = 1 / 2.6;
  EXPECT_NEAR(energy([](double x, double, double) {
                return Vector{x, 0, 0};
              }),
              lambda + 2 * mu, 1e-13);
  // Simple shear: mu gamma^2.
  EXPECT_NEAR(energy([](double, double y, double) { return Vector{y, 0, 0}; }), mu, 1e-13);
}

TEST(Elasticity, IsExactlySymmetric) {
  for (const char* kind : {"elasticity3d", "elasticity3d-shuffled"})
    for (const std::int64_t n : {2, 3, 7, 20}) {
      const MatrixStatistics statistics = matrix_statistics(elastic_matrix(kind, n));
      EXPECT_TRUE(statistics.symmetry->pattern()) << kind << " " << n;
      EXPECT_TRUE(statistics.symmetry->values()) << kind << " " << n;
    }
}

TEST(Elasticity, IsPositiveDefinite) {
  for (const char* kind : {"elasticity3d", "elasticity3d-shuffled"})
    for (const std::int64_t n : {2, 3, 5}) {
      const CsrMatrix<double> a = elastic_matrix(kind, n);
      EXPECT_GT(smallest_cholesky_pivot(to_dense(a), a.rows), 1e-3) << kind << " " << n;
    }
}

TEST(Elasticity, HasFullBlocksOf27Neighbours) {
  const CsrMatrix<double> a = elastic_matrix("elasticity3d", 5);
  EXPECT_EQ(a.nnz(), 9 * 13 * 13 * 13);  // (3n - 2)^3 pairs of neighbours
  const std::int64_t centre = 3 * (2 + 5 * (2 + 5 * 2));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a.row_ptr[centre + i + 1] - a.row_ptr[centre + i], 81);
}

TEST(Elasticity, ShuffledIsAPermutationWithinWindows) {
  const std::int64_t n = 20;  // 8000 nodes: two windows
  const CsrMatrix<double> plain = elastic_matrix("elasticity3d", n),
                          shuffled = elastic_matrix("elasticity3d-shuffled", n);
  ASSERT_EQ(plain.nnz(), shuffled.nnz());
  EXPECT_NE(plain.col_idx, shuffled.col_idx);
  auto plain_values = plain.values, shuffled_values = shuffled.values;
  std::sort(plain_values.begin(), plain_values.end());
  std::sort(shuffled_values.begin(), shuffled_values.end());
  EXPECT_EQ(plain_values, shuffled_values);
  const auto statistics = matrix_statistics(shuffled);
  EXPECT_LE(statistics.upper_bandwidth, 3 * (n * n + n + 1 + 2 * 4096));
  EXPECT_TRUE(statistics.sorted_columns);
}

}  // namespace
}  // namespace trireme
