// SPDX-License-Identifier: BSD-3-Clause
// The documented rule behind kernel: auto.
#include "planning/choose.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace trireme {
namespace {

TEST(ChooseKernel, TakesAlbusOnTheCpuWhateverTheRows) {
  EXPECT_EQ(choose_kernel(Device::cpu, {}), "albus");
  EXPECT_EQ(choose_kernel(Device::cpu, {.rows = 10, .nnz = 5'000'000, .longest = 4'000'000}),
            "albus");
}

#ifdef TRIREME_WITH_CUDA
TEST(ChooseKernel, TakesSellForManyRowsOfLikeLengthOnAGpu) {
  EXPECT_EQ(choose_kernel(Device::cuda, {.rows = 1'000'000, .nnz = 7'000'000, .longest = 28}),
            "sell");
}
TEST(ChooseKernel, TakesDaspForLongRowsAmongShortOnesOnAGpu) {
  EXPECT_EQ(choose_kernel(Device::cuda, {.rows = 1'000'000, .nnz = 7'000'000, .longest = 29}),
            "dasp");
}
TEST(ChooseKernel, TakesCsrVectorForFewNonzerosOnAGpuAndTebForLongRowsAmongThem) {
  EXPECT_EQ(choose_kernel(Device::cuda, {.rows = 10'000, .nnz = 70'000, .longest = 56}),
            "csr-vector");
  EXPECT_EQ(choose_kernel(Device::cuda, {.rows = 10'000, .nnz = 70'000, .longest = 57}), "teb");
}
TEST(ChooseKernel, TakesSomeKernelForAMatrixWithoutRowsOnAGpu) {
  EXPECT_EQ(choose_kernel(Device::cuda, {}), "csr-vector");
}
#else
TEST(ChooseKernel, SaysThatABuildWithoutCudaHasNoneForAGpu) {
  try {
    choose_kernel(Device::cuda, {});
    FAIL() << "chose a kernel";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
}
#endif

}  // namespace
}  // namespace trireme
