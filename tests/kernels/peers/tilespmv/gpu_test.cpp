// SPDX-License-Identifier: BSD-3-Clause
// Tests of TileSpMV on the GPU with tiles of every format, and with rows of tiles that several
// warps share.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/tilespmv/pictures.hpp"
#include "kernels/peers/tilespmv/same_arrays.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

class TileSpmvDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};

template <class Value>
CsrMatrix<Value> mixture(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Random random(seed);
  return matrix_of_tiles<Value>(rows, cols, seed, [&](std::int64_t, std::int64_t) {
    return random.below(4) == 0 ? -1 : static_cast<int>(random.below(tilespmv::kFormats));
  });
}

TEST_F(TileSpmvDevice, BuildsTheHostsArraysOfMixedTiles) {
  for (std::int64_t extra = 0; extra < 16; ++extra)
    TileSpmv::expect_same_arrays(mixture<double>(160 + extra, 300 - extra, 10 + extra));
}

TEST_F(TileSpmvDevice, MultipliesTilesOfEachFormat) {
  for (int format = 0; format < tilespmv::kFormats; ++format) {
    SCOPED_TRACE("format " + std::to_string(format));
    DeviceProduct<double, double> product(
        build_tilespmv_cuda<double>,
        matrix_of_tiles<double>(96, 80, 10 + format,
                                [&](auto i, auto j) { return (i + j) % 3 == 0 ? -1 : format; }));
    EXPECT_TRUE(matches_reference(product));
  }
}

// 16 rows with 200 tiles are the work of several warps, and the last tiles are cut by the edges.
TEST_F(TileSpmvDevice, MultipliesMixedTilesThatTheEdgesCut) {
  for (std::int64_t extra = 1; extra <= 16; ++extra) {
    SCOPED_TRACE(extra);
    for (const std::int64_t cols : {96 + extra, 3200 + extra}) {
      DeviceProduct<double, double> product(build_tilespmv_cuda<double>,
                                            mixture<double>(48 + extra, cols, 200 + extra));
      EXPECT_TRUE(matches_reference(product));
    }
  }
}

// The tasks of a split row finish in a different order each time.
TEST_F(TileSpmvDevice, GivesTheSameBitsForSplitRowsInAHundredRuns) {
  const auto a = mixture<double>(100, 30'000, 9);
  DeviceProduct<double, double> product(build_tilespmv_cuda<double>, a);
  const auto x = random_vector<double>(a.cols);
  const auto first = product.multiply(x);
  for (int run = 1; run < 100; ++run) ASSERT_TRUE(same_bits(first, product.multiply(x))) << run;
}

}  // namespace
}  // namespace trireme::test
