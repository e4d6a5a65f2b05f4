// SPDX-License-Identifier: BSD-3-Clause
// Which matrices look symmetric, also where processes have parts of them.
#include "sparse/skew_sums.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "sparse/generators.hpp"

namespace trireme {
namespace {

CsrMatrix<double> made(const std::string& kind, std::int64_t n) {
  GenerateSpec spec;
  spec.kind = kind;
  spec.n = n;
  return generate(spec, 0, generator_shape(spec).rows).local;
}

SkewSums sums_of(const CsrMatrix<double>& matrix) {
  const auto pairs = random_pairs(0, matrix.rows);
  return skew_sums(matrix.view(), 0, pairs);
}

TEST(SkewSums, CallSymmetricMatricesSymmetric) {
  for (const char* kind : {"poisson2d", "poisson3d", "elasticity3d", "mesh2d", "saddle"})
    EXPECT_TRUE(sums_of(made(kind, 12)).of_a_symmetric_matrix()) << kind;
  EXPECT_TRUE(SkewSums().of_a_symmetric_matrix());
}

TEST(SkewSums, FindOneEntryThatDiffersFromItsMirror) {
  for (const double change : {1e-3, -0.5, 1e200}) {
    CsrMatrix<double> matrix = made("poisson3d", 20);
    ASSERT_NE(matrix.col_idx[1], 0);
    matrix.values[1] += change;
    EXPECT_FALSE(sums_of(matrix).of_a_symmetric_matrix()) << change;
  }
  EXPECT_FALSE(sums_of(made("convection3d", 10)).of_a_symmetric_matrix());
}

TEST(SkewSums, OfPartsOfTheRowsAddUpToThoseOfTheMatrix) {
  GenerateSpec spec;
  spec.kind = "convection3d";
  spec.n = 12;
  const std::int64_t rows = generator_shape(spec).rows, cut = rows / 3;
  const SkewSums whole = sums_of(made(spec.kind, spec.n));
  SkewSums parts;
  for (const auto& [first, last] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, rows}})
    parts += skew_sums(generate(spec, first, last).local.view(), first, random_pairs(0, rows));
  EXPECT_NEAR(parts.difference, whole.difference, 1e-12 * whole.magnitude);
  EXPECT_NEAR(parts.magnitude, whole.magnitude, 1e-12 * whole.magnitude);
}

}  // namespace
}  // namespace trireme
