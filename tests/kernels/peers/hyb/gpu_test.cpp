// SPDX-License-Identifier: BSD-3-Clause
// Tests that HYB on the device stores what the host stores, where both parts have entries.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/hyb/hyb.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

TEST(HybOnDevice, StoresTheBytesOfTheHostAndMatchesReference) {
  if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  for (const std::int64_t rows : {4095, 4096, 9000, 30'000}) {
    SCOPED_TRACE(rows);
    auto lengths = test::random_lengths(rows, 0, 12);
    lengths[100] = lengths[rows - 1] = 9000;
    const auto a = test::matrix_with_row_lengths<double>(lengths, 10'000);
    test::DeviceProduct<double, double> product(build_hyb_cuda<double>, a);
    EXPECT_EQ(product.kernel().statistics().stored_bytes,
              build_hyb_host<double>(a.view())->statistics().stored_bytes);
    EXPECT_TRUE(test::matches_reference(product));
    product.update_values(test::random_vector<double>(a.nnz(), 77));
    EXPECT_TRUE(test::matches_reference(product));
  }
}

}  // namespace
}  // namespace trireme
