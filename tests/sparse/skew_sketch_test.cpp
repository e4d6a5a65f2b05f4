// SPDX-License-Identifier: BSD-3-Clause
// Which matrices are symmetric but for rounding, also where processes have parts of them.
#include "sparse/skew_sketch.hpp"

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

SkewSketch sketch_of(const CsrMatrix<double>& matrix) {
  const auto pairs = random_pairs(0, matrix.rows);
  return skew_sketch(matrix.view(), 0, pairs, 4);
}

TEST(SkewSketch, CallsSymmetricMatricesSymmetric) {
  for (const char* kind : {"poisson2d", "poisson3d", "elasticity3d", "mesh2d", "saddle"}) {
    const SkewSketch sketch = sketch_of(made(kind, 12));
    EXPECT_TRUE(sketch.is_rounding()) << kind;
    EXPECT_LT(sketch.skew(), 1e-15);
  }
  EXPECT_TRUE(SkewSketch().is_rounding());
  EXPECT_EQ(SkewSketch().skew(), 0);
}

TEST(SkewSketch, FindsOneEntryThatDiffersFromItsMirror) {
  for (const double change : {1e-3, -0.5, 1e100}) {
    CsrMatrix<double> matrix = made("poisson3d", 20);
    ASSERT_NE(matrix.col_idx[1], 0);
    matrix.values[1] += change;
    EXPECT_FALSE(sketch_of(matrix).is_rounding()) << change;
  }
  EXPECT_FALSE(sketch_of(made("convection3d", 10)).is_rounding());
}

TEST(SkewSketch, OfPartsOfTheRowsAddUpToThatOfTheMatrix) {
  GenerateSpec spec;
  spec.kind = "convection3d";
  spec.n = 12;
  const std::int64_t rows = generator_shape(spec).rows, cut = rows / 3;
  const SkewSketch whole = sketch_of(made(spec.kind, spec.n));
  SkewSketch parts;
  for (const auto& [first, last] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, rows}})
    parts += skew_sketch(generate(spec, first, last).local.view(), first, random_pairs(0, rows), 4);
  EXPECT_NEAR(parts.skew(), whole.skew(), 1e-12);
  EXPECT_GT(whole.skew(), 0.01);
}

}  // namespace
}  // namespace trireme
