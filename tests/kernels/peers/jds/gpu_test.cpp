// SPDX-License-Identifier: BSD-3-Clause
// Tests JDS on the device around the length from which a block sums a row.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "kernels/peers/jds/jds.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

TEST(JdsOnDevice, MatchesReferenceAroundTheLengthOfLongRows) {
  if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  for (const auto& kinds :
       {std::vector<std::int64_t>{0, 3, 1023, 1024, 1025, 5000},
        std::vector<std::int64_t>{1025, 2000}, std::vector<std::int64_t>{1024}}) {
    const auto a = test::matrix_with_row_lengths<double>(test::mixed_lengths(kinds, 40), 6000);
    test::DeviceProduct<double, double> product(build_jds_cuda<double>, a);
    EXPECT_EQ(product.kernel().statistics().stored_bytes,
              build_jds_host<double>(a.view())->statistics().stored_bytes);
    EXPECT_TRUE(test::matches_reference(product));
    product.update_values(test::random_vector<double>(a.nnz(), 77));
    EXPECT_TRUE(test::matches_reference(product));
  }
}

}  // namespace
}  // namespace trireme
