// SPDX-License-Identifier: BSD-3-Clause
// Tests that ELL on the device refuses what the host refuses.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/device.hpp"
#include "kernels/peers/ell/ell.hpp"
#include "support/device_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

TEST(EllOnDevice, RefusesPaddingBeyondTenTimesTheMemoryOfCsr) {
  if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  std::vector<std::int64_t> lengths(100, 1);
  lengths[37] = 14;
  test::DeviceProduct<double, double> product(build_ell_cuda<double>,
                                              test::matrix_with_row_lengths<double>(lengths, 100));
  EXPECT_TRUE(test::matches_reference(product));
  lengths[37] = 15;
  const auto refused = test::matrix_with_row_lengths<double>(lengths, 100);
  try {
    test::DeviceProduct<double, double>(build_ell_cuda<double>, refused);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
}

}  // namespace
}  // namespace trireme
