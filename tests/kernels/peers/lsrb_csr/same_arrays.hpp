// SPDX-License-Identifier: BSD-3-Clause
// Expects that LSRB-CSR built on the GPU has the arrays of the host builder.
#pragma once

#include <gtest/gtest.h>

#include "kernels/peers/lsrb_csr/build.hpp"
#include "kernels/peers/lsrb_csr/device_layout.hpp"
#include "kernels/peers/lsrb_csr/lsrb_csr.hpp"
#include "support/device_product.hpp"

namespace trireme::test {

struct LsrbCsr {
  template <class Value>
  static void expect_same_arrays(const CsrMatrix<Value>& a) {
    const Stream stream;
    const auto on_device = to_device(a.view(), stream);
    const auto device = lsrb_csr::build_on_device<Value>(on_device.view(), stream);
    const auto host = lsrb_csr::build(a.view(), lsrb_csr::Cut{}).layout;
    ASSERT_EQ(device.row_blocks, host.row_blocks);
    EXPECT_EQ(to_host(device.row_starts.view(), stream), host.row_starts);
    EXPECT_EQ(to_host(device.first_row.view(), stream), host.first_row);
    EXPECT_EQ(to_host(device.row_of.view(), stream), host.row_of);
    EXPECT_EQ(to_host(device.empty_rows.view(), stream), host.empty_rows);
    const Array<std::int32_t> head_row = to_host(device.head_row.view(), stream);
    for (std::int64_t block = 0; block < host.row_blocks; ++block)
      EXPECT_EQ(head_row[block],
                host.begins_within_row(block) ? host.first_row[host.first_segment(block)] : -1);
  }
  template <class Value>
  static constexpr auto build_cuda = build_lsrb_csr_cuda<Value>;
};

}  // namespace trireme::test
