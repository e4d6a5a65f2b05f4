// SPDX-License-Identifier: BSD-3-Clause
// The cost model ranks kernels as they were measured, and sees what an order of rows would give.
#include "planning/cost_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "planning/access_profile.hpp"
#include "sparse/generators.hpp"
#include "support/random.hpp"

namespace trireme {
namespace {

CsrMatrix<double> grid(std::int64_t n) {
  return generate({.kind = "poisson2d", .n = n}, 0, n * n).local;
}

// The same matrix with its rows and columns numbered at random.
CsrMatrix<double> shuffled(const CsrMatrix<double>& a) {
  std::vector<std::int32_t> place(a.rows);
  std::iota(place.begin(), place.end(), 0);
  for (std::int64_t i = a.rows - 1; i > 0; --i)  // by a linear congruential sequence
    std::swap(place[i], place[static_cast<std::size_t>((i * 2654435761U + 12345U) % (i + 1))]);
  std::vector<std::int32_t> row_at(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) row_at[place[i]] = static_cast<std::int32_t>(i);
  CsrMatrix<double> b;
  b.rows = a.rows;
  b.cols = a.cols;
  b.row_ptr.resize(a.rows + 1);
  b.row_ptr[0] = 0;
  b.col_idx.resize(a.nnz());
  b.values.resize(a.nnz());
  std::int32_t to = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int32_t k = a.row_ptr[row_at[i]]; k < a.row_ptr[row_at[i] + 1]; ++k, ++to) {
      b.col_idx[to] = place[a.col_idx[k]];
      b.values[to] = a.values[k];
    }
    b.row_ptr[i + 1] = to;
  }
  return b;
}

TEST(AccessProfile, SeesThatAShuffledMeshCanBeClustered) {
  const CsrMatrix<double> mesh = grid(150), without_order = shuffled(mesh);
  const AccessProfile ordered = access_profile(mesh);
  const AccessProfile random = access_profile(without_order);
  EXPECT_LT(ordered.given, 0.3);
  EXPECT_GT(random.given, 0.7);
  EXPECT_LT(random.clustered, 0.2);
}

TEST(AccessProfile, SeesThatRandomColumnsCannotBeClustered) {
  const auto a = generate({.kind = "random", .n = 20000, .k = 16}, 0, 20000).local;
  EXPECT_GT(access_profile(a).clustered, 0.3);
}

TEST(AccessProfile, TakesMatricesOfAnyShape) {
  EXPECT_EQ(access_profile(CsrMatrix<double>()).given, 0);
  const auto one = generate({.kind = "poisson2d", .n = 1}, 0, 1).local;
  EXPECT_GT(access_profile(one).given, 0);
}

double gpu_us(const char* kernel, const MatrixTraits& traits, Ordering order = Ordering::given) {
  return predicted_product_us(*find_kernel(kernel).cuda_model, order, Precision::full, traits,
                              default_rates(Device::cuda));
}

// Figures of one H200 in docs/performance/products-on-gpus.md.
TEST(CostModel, IsWithinAFifthOfWhatAnH200TookForStencils) {
  const MatrixTraits poisson{.rows = 4'000'000,
                             .nnz = 19'992'000,
                             .longest = 5,
                             .exact_in_float = true,
                             .few_patterns = true,
                             .sectors_per_nonzero = 0.15};
  EXPECT_NEAR(gpu_us("sell", poisson), 47.3, 5);
  EXPECT_NEAR(gpu_us("dasp", poisson), 76.4, 15);
  EXPECT_NEAR(gpu_us("teb", poisson), 113.3, 23);
}

TEST(CostModel, KnowsThatSellReadsNoColumnsOfRegularGrids) {
  const MatrixTraits diffusion{.rows = 3'375'000,
                               .nnz = 23'490'000,
                               .longest = 7,
                               .few_patterns = true,
                               .sectors_per_nonzero = 0.15};
  const MatrixTraits blocks{.rows = 1'503'815,
                            .nnz = 52'000'000,
                            .longest = 35,
                            .few_patterns = true,
                            .sectors_per_nonzero = 0.05};
  EXPECT_NEAR(gpu_us("sell", diffusion), 78.8, 8);
  EXPECT_NEAR(gpu_us("dasp", diffusion), 85.0, 8);
  EXPECT_NEAR(gpu_us("sell", blocks), 113.6, 18);
  EXPECT_LT(gpu_us("sell", blocks), gpu_us("dasp", blocks));
  MatrixTraits irregular = diffusion;
  irregular.few_patterns = false;
  EXPECT_GT(gpu_us("sell", irregular), gpu_us("dasp", irregular));
}

TEST(CostModel, KnowsThatAnOrderEndsThePatternsOfRows) {
  const MatrixTraits grid{.rows = 3'375'000, .nnz = 23'490'000, .longest = 7, .few_patterns = true};
  EXPECT_GT(gpu_us("sell", grid, Ordering::cluster), 1.1 * gpu_us("sell", grid));
}

TEST(CostModel, PredictsWhatAnOrderGivesAnUnorderedMesh) {
  const MatrixTraits mesh{.rows = 1'000'000,
                          .nnz = 7'000'000,
                          .longest = 12,
                          .sectors_per_nonzero = 0.97,
                          .clustered_sectors = 0.07};
  EXPECT_NEAR(gpu_us("dasp", mesh), 64, 16);
  EXPECT_NEAR(gpu_us("dasp", mesh, Ordering::cluster), 29, 7);
}

TEST(CostModel, KnowsThatLongContiguousRowsAreForSell) {
  const MatrixTraits band{
      .rows = 30'000, .nnz = 17'900'000, .longest = 598, .sectors_per_nonzero = 0.002};
  EXPECT_NEAR(gpu_us("csr-vector", band), 65, 10);
  EXPECT_NEAR(gpu_us("dasp", band), 87, 17);
  EXPECT_NEAR(gpu_us("sell", band), 52, 10);
}

TEST(CostModel, KnowsThatOneLongRowStopsCsrVector) {
  const MatrixTraits circuit{
      .rows = 1'000'000, .nnz = 6'800'000, .longest = 68'000, .sectors_per_nonzero = 0.5};
  EXPECT_GT(gpu_us("csr-vector", circuit), 10 * gpu_us("dasp", circuit));
}

}  // namespace
}  // namespace trireme
