// SPDX-License-Identifier: BSD-3-Clause
// Expects that TileSpMV built on the GPU has the arrays of the host builder.
#pragma once

#include <gtest/gtest.h>

#include "kernels/peers/tilespmv/build.hpp"
#include "kernels/peers/tilespmv/device_layout.hpp"
#include "kernels/peers/tilespmv/tilespmv.hpp"
#include "support/device_product.hpp"

namespace trireme::test {

struct TileSpmv {
  template <class Value>
  static void expect_same_arrays(const CsrMatrix<Value>& a) {
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
  template <class Value>
  static constexpr auto build_cuda = build_tilespmv_cuda<Value>;
};

}  // namespace trireme::test
