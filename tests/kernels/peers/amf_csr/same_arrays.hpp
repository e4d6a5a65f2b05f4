// SPDX-License-Identifier: BSD-3-Clause
// Expects that AMF-CSR built on the GPU has the arrays of the host builder.
#pragma once

#include <gtest/gtest.h>

#include "kernels/peers/amf_csr/amf_csr.hpp"
#include "kernels/peers/amf_csr/build.hpp"
#include "kernels/peers/amf_csr/device_layout.hpp"
#include "support/device_product.hpp"

namespace trireme::test {

struct AmfCsr {
  template <class Value>
  static void expect_same_arrays(const CsrMatrix<Value>& a) {
    const Stream stream;
    const auto on_device = to_device(a.view(), stream);
    const auto device = amf_csr::build_on_device<Value>(on_device.view(), stream);
    const auto thresholds = amf_csr::choose_thresholds(a.rows, a.nnz());
    const auto host = amf_csr::build(a.view(), thresholds).layout;
    ASSERT_EQ(device.row_bits, host.row_bits);
    EXPECT_EQ(to_host(device.row_ptr.view(), stream), host.row_ptr);
    EXPECT_EQ(to_host(device.first_row.view(), stream), host.first_row);
    EXPECT_EQ(to_host(device.col_index.view(), stream), host.col_index);
    EXPECT_EQ(to_host(device.val.view(), stream), host.val);
  }
  template <class Value>
  static constexpr auto build_cuda = build_amf_csr_cuda<Value>;
};

}  // namespace trireme::test
