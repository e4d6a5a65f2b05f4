// SPDX-License-Identifier: BSD-3-Clause
// Tests that each generator follows its definition in generators.hpp, and makes the same rows for
// any cut of the matrix.
#include "sparse/generators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "sparse/row_facts.hpp"
#include "sparse/statistics.hpp"

namespace trireme {
namespace {

CsrMatrix<double> whole(const GenerateSpec& spec) {
  return generate(spec, 0, generator_shape(spec).rows).local;
}

// A small size, of about a thousand rows.
GenerateSpec small_spec(std::string_view kind) {
  GenerateSpec spec{.kind = std::string(kind), .n = 3000, .k = 16, .seed = 7};
  if (kind.find("2d") != kind.npos) spec.n = 61;
  if (kind.find("3d") != kind.npos || kind == "poisson27") spec.n = 17;
  if (kind == "rmat") spec.n = 12;
  if (kind == "blocks") spec.n = 7;
  if (kind == "incidence") spec.n = 8;
  if (kind == "highorder" || kind == "saddle") spec.n = 25;
  return spec;
}

std::string error_of(const GenerateSpec& spec) {
  try {
    generator_shape(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

class EveryGenerator : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(All, EveryGenerator, testing::ValuesIn(generator_names()),
                         [](const auto& named) {
                           std::string name(named.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryGenerator, MakesTheSameRowsFromAnySlab) {
  const GenerateSpec spec = small_spec(GetParam());
  const CsrMatrix<double> all = whole(spec);
  for (const int parts : {2, 3, 7}) {
    for (int part = 0; part < parts; ++part) {
      const std::int64_t begin = all.rows * part / parts, end = all.rows * (part + 1) / parts;
      const RowSlab slab = generate(spec, begin, end);
      ASSERT_EQ(slab.first_row, begin);
      ASSERT_EQ(slab.global_rows, all.rows);
      ASSERT_EQ(slab.local.rows, end - begin);
      ASSERT_EQ(slab.global_nnz, slab.local.nnz());
      const std::int32_t offset = all.row_ptr[begin];
      for (std::int64_t row = begin; row <= end; ++row)
        ASSERT_EQ(slab.local.row_ptr[row - begin], all.row_ptr[row] - offset);
      ASSERT_TRUE(std::equal(slab.local.col_idx.begin(), slab.local.col_idx.end(),
                             all.col_idx.begin() + offset));
      ASSERT_TRUE(std::equal(slab.local.values.begin(), slab.local.values.end(),
                             all.values.begin() + offset));
      const Array<std::int32_t> lengths = generator_row_lengths(spec, begin, end);
      for (std::int64_t row = begin; row < end; ++row)
        ASSERT_EQ(lengths[row - begin], all.row_ptr[row + 1] - all.row_ptr[row]);
    }
  }
  EXPECT_EQ(generate(spec, 5, 5).local.nnz(), 0);
}

TEST_P(EveryGenerator, KeepsColumnsAscendingAndInRange) {
  const CsrMatrix<double> a = whole(small_spec(GetParam()));
  EXPECT_TRUE(matrix_statistics(a).sorted_columns);
  EXPECT_GE(*std::min_element(a.col_idx.begin(), a.col_idx.end()), 0);
  EXPECT_LT(*std::max_element(a.col_idx.begin(), a.col_idx.end()), a.cols);
  EXPECT_TRUE(
      std::all_of(a.values.begin(), a.values.end(), [](double v) { return std::isfinite(v); }));
}

TEST_P(EveryGenerator, TakesItsSmallestSizes) {
  for (std::int64_t n = 1; n <= 20; ++n) {
    GenerateSpec spec{.kind = std::string(GetParam()), .n = n, .k = 1};
    if (spec.kind.starts_with("elasticity") && n == 1) continue;  // elasticity needs n >= 2
    if (spec.kind == "rmat" && n > 10) break;
    const CsrMatrix<double> a = whole(spec);
    EXPECT_EQ(a.rows, generator_shape(spec).rows);
    EXPECT_EQ(a.cols, generator_shape(spec).cols);
    EXPECT_TRUE(matrix_statistics(a).sorted_columns);
  }
}

TEST_P(EveryGenerator, RefusesSizesThatItCannotTake) {
  GenerateSpec spec{.kind = std::string(GetParam()), .n = 0};
  EXPECT_NE(error_of(spec).find(spec.kind + " takes n from "), std::string::npos);
  spec.n = (std::int64_t{1} << (spec.kind == "bands" ? 40 : 31)) + 1;
  EXPECT_NE(error_of(spec).find("not " + std::to_string(spec.n)), std::string::npos);
}

TEST(Generators, NameTheNearestKind) {
  const std::string message = error_of({.kind = "poison3d", .n = 5});
  EXPECT_NE(message.find("did you mean 'poisson3d'?"), std::string::npos) << message;
  EXPECT_NE(message.find("elasticity3d-shuffled, convection3d"), std::string::npos) << message;
  EXPECT_NE(error_of({.kind = "random", .n = 5, .k = 6}).find("k from 0 to n = 5"),
            std::string::npos);
  EXPECT_NE(error_of({.kind = "bands", .n = 5, .k = -1}).find("bands takes k"), std::string::npos);
  EXPECT_NE(error_of({.kind = "rmat", .n = 5, .k = 0}).find("rmat takes k"), std::string::npos);
}

TEST(Generators, SeedsDifferAndRepeat) {
  for (const std::string kind :
       {"random", "rmat", "circuit", "short", "web", "mesh2d", "lognormal", "graph", "denserows"}) {
    GenerateSpec spec = small_spec(kind);
    const CsrMatrix<double> first = whole(spec), again = whole(spec);
    EXPECT_EQ(first.values, again.values);
    spec.seed = 8;
    EXPECT_NE(first.col_idx, whole(spec).col_idx) << kind;
  }
}

TEST(Generators, StencilsHaveTheirNonzeros) {
  EXPECT_EQ(whole({.kind = "poisson2d", .n = 40}).nnz(), 5 * 40 * 40 - 4 * 40);
  EXPECT_EQ(whole({.kind = "poisson3d", .n = 15}).nnz(), 7 * 15 * 15 * 15 - 6 * 15 * 15);
  EXPECT_EQ(whole({.kind = "convection3d", .n = 15}).nnz(), 7 * 15 * 15 * 15 - 6 * 15 * 15);
  EXPECT_EQ(whole({.kind = "poisson27", .n = 12}).nnz(), 34 * 34 * 34);
}

// The columns of the points at most one step away on each axis, and on one axis only in a star.
std::vector<std::int64_t> neighbours(std::int64_t row, std::int64_t n, int dimensions, bool star) {
  std::vector<std::int64_t> columns;
  const std::int64_t points = dimensions == 2 ? n * n : n * n * n;
  for (std::int64_t column = 0; column < points; ++column) {
    std::int64_t steps = 0, longest = 0;
    for (std::int64_t a = row, b = column, axis = 0; axis < dimensions; ++axis, a /= n, b /= n) {
      steps += std::abs(a % n - b % n);
      longest = std::max<std::int64_t>(longest, std::abs(a % n - b % n));
    }
    if ((star ? steps : longest) <= 1) columns.push_back(column);
  }
  return columns;
}

TEST(Generators, StencilRowsHoldAllNeighboursAndNoOthers) {
  for (const auto& [kind, dimensions] :
       std::map<std::string, int>{{"poisson2d", 2}, {"poisson3d", 3}, {"poisson27", 3}})
    for (const std::int64_t n : {1, 2, 3, 6}) {
      SCOPED_TRACE(kind + " " + std::to_string(n));
      const CsrMatrix<double> a = whole({.kind = kind, .n = n});
      for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::vector<std::int64_t> columns(a.col_idx.begin() + a.row_ptr[row],
                                                a.col_idx.begin() + a.row_ptr[row + 1]);
        ASSERT_EQ(columns, neighbours(row, n, dimensions, kind != "poisson27")) << row;
      }
    }
}

TEST(Generators, PoissonIsSymmetricAndDominant) {
  for (const std::string kind : {"poisson2d", "poisson3d", "poisson27"}) {
    const RowFacts facts = row_facts(whole(small_spec(kind)));
    EXPECT_EQ(facts.values, 0u) << kind << " is not symmetric";
    EXPECT_EQ(facts.dominant, facts.positive) << kind;
    EXPECT_EQ(facts.zero + facts.negative, 0) << kind;
  }
}

TEST(Generators, ConvectionIsANonsymmetricMMatrix) {
  const CsrMatrix<double> a = whole(small_spec("convection3d"));
  const MatrixStatistics statistics = matrix_statistics(a);
  EXPECT_TRUE(statistics.symmetry->pattern());
  EXPECT_GT(statistics.symmetry->largest_difference, 1);
  EXPECT_EQ(row_facts(a).negative, 0);
  const std::int64_t n = 17, centre = 8 + n * (8 + n * 8);
  double sum = 0;
  for (std::int32_t k = a.row_ptr[centre]; k < a.row_ptr[centre + 1]; ++k) sum += a.values[k];
  EXPECT_NEAR(sum, 0, 1e-13);  // constants are in the kernel of the interior stencil
}

// h = 1 / (n + 1) = 1/4, v = (100, 50, 25): the flow comes from the smaller x, y and z.
TEST(Generators, ConvectionOfAnInteriorRowIsUpwindAlongEachAxis) {
  const std::int64_t n = 3, centre = 1 + n * (1 + n * 1);
  const CsrMatrix<double> a = whole({.kind = "convection3d", .n = n});
  const auto row = [&](const auto& of) {
    return std::vector<double>(of.begin() + a.row_ptr[centre], of.begin() + a.row_ptr[centre + 1]);
  };
  EXPECT_EQ(row(a.col_idx), (std::vector<double>{4, 10, 12, 13, 14, 16, 22}));
  EXPECT_EQ(row(a.values),
            (std::vector<double>{-1 - 6.25, -1 - 12.5, -1 - 25, 6 + 25 + 12.5 + 6.25, -1, -1, -1}));
}

TEST(Generators, RandomHasExactlyKNonzerosARow) {
  for (const std::int64_t k : {0, 1, 16, 60, 99, 100}) {
    const auto lengths = row_length_statistics(whole({.kind = "random", .n = 100, .k = k}).row_ptr);
    EXPECT_EQ(lengths.min, k);
    EXPECT_EQ(lengths.max, k);
  }
}

TEST(Generators, RandomColumnsAreUniform) {
  const CsrMatrix<double> a = whole({.kind = "random", .n = 20000, .k = 16});
  std::vector<int> tenths(10);
  for (const std::int32_t column : a.col_idx) ++tenths[column / 2000];
  for (const int count : tenths) EXPECT_NEAR(count, 32000, 800);  // five standard deviations
}

// Scale 20 and edge factor 16 keep 16.1 of 16.8 million edges; smaller scales have more duplicates.
TEST(Generators, RmatHasItsSkewAndItsEdges) {
  const CsrMatrix<double> a = whole({.kind = "rmat", .n = 16, .k = 16});
  const auto edges = static_cast<double>(16 << 16);
  EXPECT_GT(a.nnz(), 0.86 * edges);
  EXPECT_LT(a.nnz(), 0.94 * edges);
  const auto lengths = row_length_statistics(a.row_ptr);
  // Row 0 is expected to have edges * .76^16 = 13000 edges, with duplicates.
  EXPECT_GT(lengths.max, 3000);
  EXPECT_GT(lengths.empty_rows, 65536 / 5);
  EXPECT_NEAR(a.row_ptr[a.rows / 2], 0.74 * static_cast<double>(a.nnz()), 0.02 * edges);
}

TEST(Generators, CircuitHasItsDiagonalAndItsNets) {
  const std::int64_t n = 100000;
  const CsrMatrix<double> a = whole({.kind = "circuit", .n = n});
  EXPECT_EQ(row_facts(a).zero, 0);
  EXPECT_NEAR(static_cast<double>(a.nnz()), 6.8 * n, 0.02 * 6.8 * n);
  std::int64_t dense_rows = 0;
  for (std::int64_t row = 0; row < n; ++row)
    dense_rows += a.row_ptr[row + 1] - a.row_ptr[row] > n / 25;
  EXPECT_EQ(dense_rows, 16);
  std::vector<std::int32_t> column_lengths(n);
  for (const std::int32_t column : a.col_idx) ++column_lengths[column];
  EXPECT_EQ(std::count_if(column_lengths.begin(), column_lengths.end(),
                          [&](std::int32_t length) { return length > n / 25; }),
            16);
}

TEST(Generators, ShortRowsAreShortAndLocal) {
  const CsrMatrix<double> a = whole({.kind = "short", .n = 40000});
  const MatrixStatistics statistics = matrix_statistics(a);
  EXPECT_EQ(statistics.row_lengths.min, 1);
  EXPECT_EQ(statistics.row_lengths.max, 4);
  EXPECT_NEAR(statistics.row_lengths.mean, 2.5, 0.03);
  EXPECT_LE(std::max(statistics.lower_bandwidth, statistics.upper_bandwidth), 1000);
}

TEST(Generators, WebHasPowerLawRows) {
  const std::int64_t n = 200000;
  const auto lengths = row_length_statistics(whole({.kind = "web", .n = n}).row_ptr);
  EXPECT_NEAR(lengths.mean, 2.75, 0.15);
  EXPECT_GT(lengths.max, 500);
  EXPECT_LE(lengths.max, n / 200 + 50);
  EXPECT_EQ(lengths.median, 1);
  EXPECT_NEAR(static_cast<double>(lengths.empty_rows) / n, 0.3 * (1 - std::pow(0.9, 1.35)), 0.01);
}

TEST(Generators, DenseRowsAreFiveRowsOfABand) {
  const std::int64_t n = 40000;
  const CsrMatrix<double> a = whole({.kind = "denserows", .n = n});
  const auto lengths = row_length_statistics(a.row_ptr);
  EXPECT_EQ(lengths.median, 9);
  std::int64_t dense = 0;
  for (std::int64_t row = 0; row < n; ++row) {
    const std::int32_t length = a.row_ptr[row + 1] - a.row_ptr[row];
    EXPECT_TRUE(length <= 9 || length > n / 10);
    dense += length > 9;
  }
  EXPECT_EQ(dense, 5);
}

// Every row sums to zero, every pair of neighbours has one row, and no other pair has.
TEST(Generators, IncidenceHasOneRowPerPairOfNeighbours) {
  const std::int64_t n = 5;
  const CsrMatrix<double> a = whole({.kind = "incidence", .n = n, .seed = 3});
  ASSERT_EQ(a.rows, 3 * n * n * (n - 1));
  ASSERT_EQ(a.cols, n * n * n);
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  bool forward = false, backward = false;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    ASSERT_EQ(a.row_ptr[row + 1] - a.row_ptr[row], 2);
    const double* values = a.values.data() + a.row_ptr[row];
    EXPECT_EQ(std::abs(values[0]), 1);
    EXPECT_EQ(values[0] + values[1], 0);
    forward |= values[0]<0, backward |= values[0]> 0;
    const std::int64_t from = a.col_idx[a.row_ptr[row]], to = a.col_idx[a.row_ptr[row] + 1];
    const std::int64_t distances[] = {std::abs(from % n - to % n),
                                      std::abs(from / n % n - to / n % n),
                                      std::abs(from / (n * n) - to / (n * n))};
    EXPECT_EQ(distances[0] + distances[1] + distances[2], 1) << row;
    pairs.emplace(from, to);
  }
  EXPECT_EQ(static_cast<std::int64_t>(pairs.size()), a.rows);
  EXPECT_TRUE(forward && backward);
}

}  // namespace
}  // namespace trireme
