// SPDX-License-Identifier: BSD-3-Clause
// Tests the TileSpMV product on random tiles of every format, whole and cut by the edges of the
// matrix.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/peers/tilespmv/build.hpp"
#include "kernels/peers/tilespmv/pictures.hpp"
#include "kernels/peers/tilespmv/tilespmv.hpp"
#include "support/host_product.hpp"

namespace trireme::tilespmv {
namespace {

// Tiles of all formats at random, every fourth place of the grid empty.
template <class Value>
CsrMatrix<Value> mixture(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  test::Random random(seed);
  return test::matrix_of_tiles<Value>(rows, cols, seed, [&](std::int64_t, std::int64_t) {
    return random.below(4) == 0 ? -1 : static_cast<int>(random.below(kFormats));
  });
}

template <class Value>
class TileSpmvHost : public testing::Test {};
using TileSpmvValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(TileSpmvHost, TileSpmvValueTypes);

TYPED_TEST(TileSpmvHost, MultipliesTilesOfEachFormat) {
  for (int format = 0; format < kFormats; ++format) {
    SCOPED_TRACE("format " + std::to_string(format));
    const auto a = test::matrix_of_tiles<TypeParam>(
        96, 80, 10 + format, [&](auto i, auto j) { return (i + j) % 3 == 0 ? -1 : format; });
    const auto layout = build(a.view()).layout;
    EXPECT_EQ(count_formats(layout.tile_format)[format], layout.tiles());
    EXPECT_EQ(layout.tiles(), 20);
    const auto kernel = build_tilespmv_host<TypeParam>(a.view());
    EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
  }
}

TYPED_TEST(TileSpmvHost, MultipliesTilesThatTheEdgesCut) {
  for (std::int64_t extra = 1; extra <= 16; ++extra)
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{112 + extra, 96},
                                     {96, 112 + extra},
                                     {48 + extra, 224 + 17 - extra},
                                     {extra, 300},
                                     {300, extra}}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
      const auto a = mixture<TypeParam>(rows, cols, 100 + extra);
      const auto kernel = build_tilespmv_host<TypeParam>(a.view());
      EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
      auto updated = a;
      updated.values = test::random_vector<TypeParam>(a.nnz(), 77);
      kernel->update_values(updated.values);
      EXPECT_TRUE(test::matches_reference(*kernel, updated.view()));
    }
}

TYPED_TEST(TileSpmvHost, AnInfiniteEntryOfXReachesOnlyTheRowsWithItsColumn) {
  const auto a = mixture<TypeParam>(200, 215, 3);
  const auto kernel = build_tilespmv_host<TypeParam>(a.view());
  for (std::int64_t bad = 0; bad < a.cols; ++bad) {
    auto x = test::random_vector<TypeParam>(a.cols);
    x[bad] = std::numeric_limits<TypeParam>::infinity();
    Array<TypeParam> y(a.rows);
    kernel->multiply(x, y, Accumulate::no);
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const auto first = a.col_idx.begin() + a.row_ptr[row];
      const auto last = a.col_idx.begin() + a.row_ptr[row + 1];
      ASSERT_EQ(std::isfinite(y[row]), std::find(first, last, bad) == last) << row << ' ' << bad;
    }
  }
}

// Every second entry appears twice.
TYPED_TEST(TileSpmvHost, AddsUpEntriesAtTheSamePlace) {
  const auto once = mixture<TypeParam>(70, 70, 4);
  CsrMatrix<TypeParam> a;
  a.rows = once.rows;
  a.cols = once.cols;
  for (std::int64_t row = 0; row < once.rows; ++row) {
    for (std::int32_t k = once.row_ptr[row]; k < once.row_ptr[row + 1]; ++k)
      for (int copy = 0; copy <= k % 2; ++copy) {
        a.col_idx.push_back(once.col_idx[k]);
        a.values.push_back(once.values[k] * static_cast<TypeParam>(1 + copy));
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  const auto kernel = build_tilespmv_host<TypeParam>(a.view());
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
}

TYPED_TEST(TileSpmvHost, MultipliesADeferredMatrix) {
  const auto a = test::matrix_of_tiles<TypeParam>(320, 3200, 5, [](std::int64_t i, std::int64_t j) {
    return j % 8 == i % 8 ? static_cast<int>(Format::ell) : static_cast<int>(Format::coo);
  });
  const auto layout = build(a.view()).layout;
  EXPECT_TRUE(layout.defers());
  EXPECT_GT(count_formats(layout.tile_format)[static_cast<int>(Format::coo)], 0);
  const auto kernel = build_tilespmv_host<TypeParam>(a.view());
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
}

TYPED_TEST(TileSpmvHost, CountsItsTilesAndItsPadding) {
  const auto a = test::matrix_of_tiles<TypeParam>(48, 16, 6, [](std::int64_t i, std::int64_t) {
    return i == 1 ? static_cast<int>(Format::dns) : static_cast<int>(Format::ell);
  });
  const auto statistics = build_tilespmv_host<TypeParam>(a.view())->statistics();
  ASSERT_FALSE(statistics.steps.empty());
  EXPECT_EQ(statistics.steps.front().name,
            "tiles: 0 CSR, 0 COO, 2 ELL, 0 HYB, 1 Dns, 0 DnsRow, 0 DnsCol; 0 entries deferred");
  // Values of two ELL tiles of width 4 and of a Dns tile; their indices; four arrays of level 1.
  const std::int64_t stored = 2 * 64 + 256;
  EXPECT_EQ(statistics.stored_bytes, stored * std::int64_t{sizeof(TypeParam)} + (2 * 32 + 32) +
                                         4 * 4 + 3 * 4 + 3 + 2 * 4 * 4);
  EXPECT_DOUBLE_EQ(statistics.padding_ratio,
                   static_cast<double>(stored) / static_cast<double>(a.nnz()) - 1);
}

}  // namespace
}  // namespace trireme::tilespmv
