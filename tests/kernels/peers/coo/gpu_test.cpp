// SPDX-License-Identifier: BSD-3-Clause
// Tests COO on the device where rows span many segments.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/coo/coo.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

// Rows of more than 32 segments of 256 entries, so that the lanes of a warp add several carries
// each, at the beginning, between short rows and at the end.
TEST(CooOnDevice, AddsTheCarriesOfRowsThatSpanManySegments) {
  if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  for (const std::int64_t shift : {0, 1, 255, 256}) {
    SCOPED_TRACE(shift);
    const auto a =
        test::matrix_with_row_lengths<double>({shift, 20'000, 3, 0, 255, 256, 257, 30'001}, 40'000);
    test::DeviceProduct<double, double> product(build_coo_cuda<double>, a);
    EXPECT_TRUE(test::matches_reference(product));
    product.update_values(test::random_vector<double>(a.nnz(), 77));
    EXPECT_TRUE(test::matches_reference(product));
  }
}

}  // namespace
}  // namespace trireme
