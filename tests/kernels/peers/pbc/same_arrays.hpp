// SPDX-License-Identifier: BSD-3-Clause
// Expects that PBC built on the GPU has the arrays of the host builder.
#pragma once

#include <gtest/gtest.h>

#include "kernels/peers/pbc/build.hpp"
#include "kernels/peers/pbc/device_layout.hpp"
#include "kernels/peers/pbc/pbc.hpp"
#include "support/device_product.hpp"

namespace trireme::test {

struct Pbc {
  template <class Value>
  static void expect_same_arrays(const CsrMatrix<Value>& a) {
    const Stream stream;
    const auto on_device = to_device(a.view(), stream);
    const auto device = pbc::build_on_device<Value>(on_device.view(), stream);
    const auto host = pbc::build(a.view(), pbc::make_plan(a.rows, a.nnz())).layout;
    ASSERT_EQ(device.long_rows, host.long_rows);
    EXPECT_EQ(to_host(device.dev_p.view(), stream), host.dev_p);
    EXPECT_EQ(to_host(device.dev_w.view(), stream), host.dev_w);
    EXPECT_EQ(to_host(device.empty_rows.view(), stream), host.empty_rows);
    EXPECT_EQ(to_host(device.dev_blockpos.view(), stream), host.dev_blockpos);
    EXPECT_EQ(to_host(device.dev_offset.view(), stream), host.dev_offset);
    EXPECT_EQ(to_host(device.val_data.view(), stream), host.val_data);
  }
  template <class Value>
  static constexpr auto build_cuda = build_pbc_cuda<Value>;
};

}  // namespace trireme::test
