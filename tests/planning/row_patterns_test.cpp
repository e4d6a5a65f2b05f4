// SPDX-License-Identifier: BSD-3-Clause
// The samples say of every kind of matrix what the build of `sell` finds by looking at all rows.
#include "planning/row_patterns.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/sell/build.hpp"
#include "sparse/generators.hpp"

namespace trireme {
namespace {

CsrMatrix<double> made(const GenerateSpec& spec) {
  return generate(spec, 0, generator_shape(spec).rows).local;
}

class RowPatterns : public testing::TestWithParam<GenerateSpec> {};

TEST_P(RowPatterns, AreFewWhereSellHasPatterns) {
  const CsrMatrix<double> a = made(GetParam());
  std::vector<BuildStep> steps;
  EXPECT_EQ(has_few_row_patterns(a.view()), sell::build(a.view(), steps).form.patterned);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RowPatterns,
                         testing::Values(GenerateSpec{.kind = "poisson2d", .n = 200},
                                         GenerateSpec{.kind = "poisson27", .n = 30},
                                         GenerateSpec{.kind = "elasticity3d", .n = 20},
                                         GenerateSpec{.kind = "elasticity3d-shuffled", .n = 20},
                                         GenerateSpec{.kind = "diffusion3d", .n = 30},
                                         GenerateSpec{.kind = "blocks", .n = 16},
                                         GenerateSpec{.kind = "highorder", .n = 80},
                                         GenerateSpec{.kind = "bands", .n = 20'000, .k = 20},
                                         GenerateSpec{.kind = "mesh2d", .n = 150},
                                         GenerateSpec{.kind = "random", .n = 20'000},
                                         GenerateSpec{.kind = "lognormal", .n = 20'000},
                                         GenerateSpec{.kind = "graph", .n = 20'000},
                                         GenerateSpec{.kind = "short", .n = 20'000},
                                         GenerateSpec{.kind = "saddle", .n = 80}),
                         [](const auto& test) {
                           std::string name = test.param.kind;
                           std::erase(name, '-');
                           return name;
                         });

TEST(RowPatternsOfLongRows, AreNotFewWhereSellKeepsMostRowsApart) {
  EXPECT_FALSE(has_few_row_patterns(made({.kind = "bands", .n = 3000, .k = 100}).view()));
}

TEST(RowPatternsOfNoRows, AreNotFew) {
  EXPECT_FALSE(has_few_row_patterns(CsrMatrix<double>().view()));
}

}  // namespace
}  // namespace trireme
