// SPDX-License-Identifier: BSD-3-Clause
// A process that expects a GPU learns, after it has read the problem, whether there is one.
#include "app/system/gpu_warm_up.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "device/device.hpp"
#include "device/driver.hpp"

namespace trireme {
namespace {

const GpusOfRanks kExpected{.everywhere = true, .lacking = {}};

std::vector<KernelChoice> one_kernel(Device device) {
  return {{.name = "csr-vector", .device = device}};
}

TEST(GpuWarmUp, SaysWhetherTheExpectedGpuIsMissing) {
  const Case c;
  const auto kernels = one_kernel(Device::cuda);
  GpuWarmUp gpu(MPI_COMM_SELF, kernels, kExpected, c);
  EXPECT_EQ(gpu.is_missing(), !cuda_available());
  if (cuda_available())
    EXPECT_FALSE(gpu.wait_until_open().empty());
  else
    EXPECT_THROW(gpu.wait_until_open(), Error);
}

TEST(GpuWarmUp, MissesNoGpuWhereNoKernelNeedsOne) {
  const Case c;
  const auto kernels = one_kernel(Device::cpu);
  GpuWarmUp gpu(MPI_COMM_SELF, kernels, kExpected, c);
  EXPECT_FALSE(gpu.is_missing());
  EXPECT_TRUE(gpu.wait_until_open().empty());
}

TEST(Driver, IsVisibleWhereAGpuIsAvailableUnlessTheEnvironmentHidesIt) {
  EXPECT_TRUE(driver_is_visible() || !cuda_available());
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_FALSE(driver_is_visible());
  setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
  EXPECT_FALSE(driver_is_visible());
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace trireme
