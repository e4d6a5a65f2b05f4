// SPDX-License-Identifier: BSD-3-Clause
// Tests that TileSpMV built on the GPU has the arrays of the host builder, and that it multiplies
// tiles of every format, rows of tiles that several warps share, and deferred matrices.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/tilespmv/build.hpp"
#include "kernels/peers/tilespmv/device_layout.hpp"
#include "kernels/peers/tilespmv/pictures.hpp"
#include "kernels/peers/tilespmv/tilespmv.hpp"
#include "sparse/generators.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

using tilespmv::Format;

class TileSpmvDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};

template <class Value>
void expect_same_arrays(const CsrMatrix<Value>& a) {
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto device = tilespmv::build_on_device<Value>(on_device.view(), stream);
  const auto built = tilespmv::build(a.view());
  const auto& host = built.layout;
  EXPECT_EQ(to_host(device.tile_ptr.view(), stream), host.tile_ptr);
  EXPECT_EQ(to_host(device.tile_col_idx.view(), stream), host.tile_col_idx);
  EXPECT_EQ(to_host(device.tile_format.view(), stream), host.tile_format);
  EXPECT_EQ(to_host(device.tile_nnz.view(), stream), host.tile_nnz);
  EXPECT_EQ(to_host(device.tile_index.view(), stream), host.tile_index);
  EXPECT_EQ(to_host(device.indices.view(), stream), host.indices);
  EXPECT_EQ(to_host(device.values.view(), stream), host.values);
  EXPECT_EQ(to_host(device.deferred_ptr.view(), stream), host.deferred_ptr);
  EXPECT_EQ(to_host(device.deferred_col_idx.view(), stream), host.deferred_col_idx);
  EXPECT_EQ(to_host(device.position.view(), stream), built.position);
  EXPECT_EQ(device.steps.front().name, built.steps.front().name);
}

std::vector<GenerateSpec> large_problems() {
  return {{"rmat", 15, 8},    {"circuit", 100'000}, {"web", 80'000},
          {"short", 100'000}, {"poisson3d", 40},    {"elasticity3d", 14}};
}

template <class Value>
CsrMatrix<Value> mixture(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Random random(seed);
  return matrix_of_tiles<Value>(rows, cols, seed, [&](std::int64_t, std::int64_t) {
    return random.below(4) == 0 ? -1 : static_cast<int>(random.below(tilespmv::kFormats));
  });
}

TEST_F(TileSpmvDevice, BuildsTheHostsArraysOnEveryShape) {
  for (const auto& shape : contract_shapes<double>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
  for (const auto& shape : contract_shapes<float>()) {
    SCOPED_TRACE(shape.name);
    expect_same_arrays(shape.matrix);
  }
}

TEST_F(TileSpmvDevice, BuildsTheHostsArraysOfMixedTilesAndLargeProblems) {
  for (std::int64_t extra = 0; extra < 16; ++extra)
    expect_same_arrays(mixture<double>(160 + extra, 300 - extra, 10 + extra));
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    expect_same_arrays(generate(spec, 0, generator_shape(spec).rows).local);
  }
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

TEST_F(TileSpmvDevice, MatchesReferenceOnLargeProblems) {
  for (const GenerateSpec& spec : large_problems()) {
    SCOPED_TRACE(spec.kind);
    DeviceProduct<double, double> product(build_tilespmv_cuda<double>,
                                          generate(spec, 0, generator_shape(spec).rows).local);
    EXPECT_TRUE(matches_reference(product));
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
