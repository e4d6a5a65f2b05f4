// SPDX-License-Identifier: BSD-3-Clause
// Expects that CSR5 built on the GPU has the arrays of the host builder.
#pragma once

#include <gtest/gtest.h>

#include "kernels/peers/csr5/build.hpp"
#include "kernels/peers/csr5/csr5.hpp"
#include "kernels/peers/csr5/device_layout.hpp"
#include "support/device_product.hpp"

namespace trireme::test {

struct Csr5 {
  template <class Value>
  static void expect_same_arrays(const CsrMatrix<Value>& a) {
    const Stream stream;
    const auto on_device = to_device(a.view(), stream);
    std::vector<BuildStep> steps;
    const auto host = csr5::build(a.view(), {.sigma = csr5::choose_sigma(a.rows, a.nnz())}, steps);
    const auto device = csr5::build_on_device<Value>(on_device.view(), steps, stream);
    EXPECT_EQ(host.shape.sigma, device.shape.sigma);
    EXPECT_EQ(host.tiles(), device.tiles);
    EXPECT_EQ(to_host(device.tile_ptr.view(), stream), host.tile_ptr);
    EXPECT_EQ(to_host(device.tile_desc.view(), stream), host.tile_desc);
    EXPECT_EQ(to_host(device.empty_offset_ptr.view(), stream), host.empty_offset_ptr);
    EXPECT_EQ(to_host(device.empty_offset.view(), stream), host.empty_offset);
    EXPECT_EQ(to_host(device.empty_rows.view(), stream), host.empty_rows);
    EXPECT_EQ(to_host(device.col_idx.view(), stream), host.col_idx);
    EXPECT_EQ(to_host(device.values.view(), stream), host.values);
  }
  template <class Value>
  static constexpr auto build_cuda = build_csr5_cuda<Value>;
};

}  // namespace trireme::test
