// SPDX-License-Identifier: BSD-3-Clause
// The symmetric families follow their definition in generators.hpp: shape, definiteness, values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "sparse/generators.hpp"
#include "sparse/random_permutation.hpp"
#include "sparse/row_facts.hpp"
#include "sparse/statistics.hpp"

namespace trireme {
namespace {

CsrMatrix<double> matrix_of_family(const std::string& kind, std::int64_t n, std::int64_t k = 16) {
  const GenerateSpec spec{.kind = kind, .n = n, .k = k, .seed = 3};
  return generate(spec, 0, generator_shape(spec).rows).local;
}

struct Family {
  std::string kind;
  std::int64_t n;
  bool dominant;  // also in floating point
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.kind; }
const Family kFamilies[] = {
    {"mesh2d", 40, false}, {"lognormal", 2000, true}, {"graph", 2000, true},
    {"blocks", 6, true},   {"highorder", 20, false},  {"bands", 500, true},
    {"arrow", 500, true},  {"diffusion3d", 9, false}, {"saddle", 20, false}};

class SymmetricFamily : public testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(All, SymmetricFamily, testing::ValuesIn(kFamilies),
                         [](const auto& family) { return family.param.kind; });

TEST_P(SymmetricFamily, IsSymmetricToTheLastBit) {
  const CsrMatrix<double> a = matrix_of_family(GetParam().kind, GetParam().n);
  const MatrixStatistics statistics = matrix_statistics(a);
  const RowFacts facts = row_facts(a);
  EXPECT_EQ(statistics.symmetry->unmatched_entries, 0);
  EXPECT_EQ(statistics.symmetry->largest_difference, 0);
  EXPECT_EQ(facts.negative, 0);
  EXPECT_EQ(statistics.row_lengths.empty_rows, 0);
  if (GetParam().dominant) {
    EXPECT_EQ(facts.dominant, statistics.rows);
  }
}

TEST_P(SymmetricFamily, HasValuesThatFp32DoesNotHold) {
  const CsrMatrix<double> a = matrix_of_family(GetParam().kind, GetParam().n);
  const auto inexact = std::count_if(a.values.begin(), a.values.end(), [](double value) {
    return static_cast<double>(static_cast<float>(value)) != value;
  });
  EXPECT_GT(static_cast<double>(inexact), 0.3 * static_cast<double>(a.nnz()));
}

// The matrix as rows of a dense triangle, eliminated without pivoting: the signs of the pivots are
// those of the eigenvalues.
std::int64_t negative_pivots(const CsrMatrix<double>& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> dense(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      dense[i * n + a.col_idx[k]] = a.values[k];
  std::int64_t negative = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = dense[i * n + i];
    EXPECT_GT(std::abs(pivot), 1e-12) << "row " << i;
    negative += pivot < 0;
    for (std::size_t row = i + 1; row < n; ++row) {
      const double factor = dense[row * n + i] / pivot;
      if (factor == 0) continue;
      for (std::size_t j = i; j < n; ++j) dense[row * n + j] -= factor * dense[i * n + j];
    }
  }
  return negative;
}

TEST(SymmetricFamilies, ArePositiveDefiniteAndSaddleHasOneNegativePivotPerPressure) {
  for (const Family& family : kFamilies) {
    const std::int64_t n = family.kind == "blocks" ? 3 : family.n > 100 ? 150 : 8;
    const std::int64_t negative = negative_pivots(matrix_of_family(family.kind, n));
    EXPECT_EQ(negative, family.kind == "saddle" ? n * n : 0) << family.kind;
  }
}

TEST(SymmetricFamilies, Mesh2dIsATriangulationWithoutOrder) {
  const std::int64_t n = 50;
  const CsrMatrix<double> a = matrix_of_family("mesh2d", n);
  // The diagonal, two directions of each edge along the grid, and of one diagonal per cell.
  EXPECT_EQ(a.nnz(), n * n + 4 * n * (n - 1) + 2 * (n - 1) * (n - 1));
  double distance = 0;
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      distance += std::abs(static_cast<double>(a.col_idx[k] - row));
  // Two random numbers in [0, N) differ by N / 3 in the mean; 6/7 of the entries are off the
  // diagonal.
  EXPECT_NEAR(distance / static_cast<double>(a.nnz()), 6.0 / 7 * n * n / 3, 0.03 * n * n);
}

TEST(SymmetricFamilies, LognormalRowsHaveTheirLengthsAndAreMostlyNear) {
  const std::int64_t n = 60000;
  const CsrMatrix<double> a = matrix_of_family("lognormal", n);
  const RowLengthStatistics lengths = row_length_statistics(a.row_ptr);
  EXPECT_NEAR(lengths.mean, 15, 1);
  EXPECT_NEAR(lengths.median, 1 + 14 * std::exp(-0.72), 1);
  EXPECT_GT(lengths.max, 500);
  std::int64_t near = 0;
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      near += std::abs(a.col_idx[k] - row) < 7000 && a.col_idx[k] != row;
  EXPECT_NEAR(static_cast<double>(near) / static_cast<double>(a.nnz() - n), 0.84, 0.03);
}

TEST(SymmetricFamilies, GraphHasAPowerLawOfDegrees) {
  const std::int64_t n = 100000;
  const CsrMatrix<double> a = matrix_of_family("graph", n);
  const auto share_from = [&](std::int32_t degree) {
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < n; ++row)
      count += a.row_ptr[row + 1] - a.row_ptr[row] - 1 >= degree;
    return static_cast<double>(count) / static_cast<double>(n);
  };
  EXPECT_NEAR(share_from(4), std::pow(2.0 / 4, 1.2), 0.02);
  EXPECT_NEAR(share_from(20), std::pow(2.0 / 20, 1.2), 0.01);
  EXPECT_GT(row_length_statistics(a.row_ptr).max, 2000);
}

TEST(SymmetricFamilies, BlocksAreDense) {
  const std::int64_t n = 6;
  const CsrMatrix<double> a = matrix_of_family("blocks", n);
  EXPECT_EQ(a.nnz(), 25 * (7 * n * n * n - 6 * n * n));
  for (std::int64_t row = 0; row < a.rows; ++row) ASSERT_EQ(a.col_idx[a.row_ptr[row]] % 5, 0);
}

TEST(SymmetricFamilies, Diffusion3dHasLogNormalCoefficientsAndAConservativeInterior) {
  const std::int64_t n = 30;
  const CsrMatrix<double> a = matrix_of_family("diffusion3d", n);
  double logs = 0, squares = 0;
  std::int64_t boundary = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = 0, diagonal = 0;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      sum += a.values[k];
      if (a.col_idx[k] == row) diagonal = a.values[k];
    }
    const std::int64_t faces = 7 - (a.row_ptr[row + 1] - a.row_ptr[row]);
    if (faces == 0) {
      ASSERT_NEAR(sum / diagonal, 0, 1e-15) << row;
      continue;
    }
    const double logarithm =
        std::log(sum / (2 * static_cast<double>(faces)));  // of the coefficient
    logs += logarithm;
    squares += logarithm * logarithm;
    ++boundary;
  }
  ASSERT_EQ(boundary, n * n * n - (n - 2) * (n - 2) * (n - 2));
  EXPECT_NEAR(logs / static_cast<double>(boundary), 0, 0.1);
  EXPECT_NEAR(squares / static_cast<double>(boundary), 4, 0.3);
}

// Each of the eight cells has three faces on the boundary, whose conductance is twice its
// coefficient.
TEST(SymmetricFamilies, Diffusion3dTakesHarmonicMeansBetweenCells) {
  const CsrMatrix<double> a = matrix_of_family("diffusion3d", 2);
  std::vector<double> coefficient(8);
  for (std::int64_t row = 0; row < 8; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      coefficient[row] += a.values[k] / 6;
  for (std::int64_t row = 0; row < 8; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const std::int32_t to = a.col_idx[k];
      const double mean =
          2 * coefficient[row] * coefficient[to] / (coefficient[row] + coefficient[to]);
      if (to == row) continue;
      EXPECT_NEAR(-a.values[k] / mean, 1, 1e-9) << row << " " << to;
    }
}

TEST(SymmetricFamilies, RandomOnesFollowTheSeed) {
  for (const char* kind : {"diffusion3d", "mesh2d"}) {
    const auto of_seed = [&](std::uint64_t seed) {
      const GenerateSpec spec{.kind = kind, .n = 6, .seed = seed};
      return generate(spec, 0, generator_shape(spec).rows).local.values;
    };
    EXPECT_EQ(of_seed(3), of_seed(3)) << kind;
    EXPECT_NE(of_seed(3), of_seed(4)) << kind;
  }
}

TEST(SymmetricFamilies, HighOrderHasRowsOf9And15And25) {
  const std::int64_t n = 10, side = 2 * n - 1;
  const CsrMatrix<double> a = matrix_of_family("highorder", n);
  ASSERT_EQ(a.rows, side * side);
  std::vector<std::int64_t> count(26);
  for (std::int64_t y = 4; y < side - 4; ++y)
    for (std::int64_t x = 4; x < side - 4; ++x) {
      const std::int64_t row = x + side * y;
      ++count[a.row_ptr[row + 1] - a.row_ptr[row]];
      double sum = 0, magnitudes = 0;
      for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
        sum += a.values[k];
        magnitudes += std::abs(a.values[k]);
      }
      EXPECT_NEAR(sum / magnitudes, 0, 1e-15);  // the gradient of a constant is 0
    }
  EXPECT_EQ(count[9], 36);   // 6 x 6 middles of elements
  EXPECT_EQ(count[25], 25);  // 5 x 5 corners
  EXPECT_EQ(count[15], 60);
}

TEST(SymmetricFamilies, BandsAndArrowHaveTheirWidths) {
  const CsrMatrix<double> bands = matrix_of_family("bands", 100, 7);
  EXPECT_EQ(bands.nnz(), 100 * 15 - 7 * 8);
  const MatrixStatistics statistics = matrix_statistics(bands);
  EXPECT_EQ(statistics.lower_bandwidth, 7);
  const CsrMatrix<double> arrow = matrix_of_family("arrow", 100);
  EXPECT_EQ(arrow.row_ptr[51] - arrow.row_ptr[50], 9 + 4);
  EXPECT_EQ(arrow.row_ptr[100] - arrow.row_ptr[96], 4 * 100);
  EXPECT_EQ(arrow.row_ptr[1], 5 + 4);
}

// The divergence of the flux 1 through all vertical faces is 0 in each cell.
TEST(SymmetricFamilies, SaddleHasADivergence) {
  const std::int64_t n = 6, faces = n * (n + 1);
  const CsrMatrix<double> a = matrix_of_family("saddle", n);
  ASSERT_EQ(a.rows, 2 * faces + n * n);
  for (std::int64_t row = 2 * faces; row < a.rows; ++row) {
    ASSERT_EQ(a.row_ptr[row + 1] - a.row_ptr[row], 4);
    double horizontal = 0, all = 0;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      EXPECT_LT(a.col_idx[k], 2 * faces);
      all += std::abs(a.values[k]);
      if (a.col_idx[k] < faces) horizontal += a.values[k];
    }
    EXPECT_EQ(horizontal, 0);
    EXPECT_EQ(all, 4);
  }
}

TEST(RandomPermutation, HasItsInverseAndHitsEachNumberOnce) {
  for (const std::int64_t size : {1, 2, 3, 5, 64, 1000, 4097}) {
    const RandomPermutation order(size, 11);
    std::vector<bool> hit(static_cast<std::size_t>(size));
    for (std::int64_t k = 0; k < size; ++k) {
      ASSERT_LT(order(k), size);
      ASSERT_FALSE(hit[order(k)]);
      hit[order(k)] = true;
      ASSERT_EQ(order.inverse(order(k)), k);
    }
  }
}

}  // namespace
}  // namespace trireme
