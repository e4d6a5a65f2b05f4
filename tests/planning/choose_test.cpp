// SPDX-License-Identifier: BSD-3-Clause
// Tests the documented rules of `kernel: auto`.
#include "planning/choose.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "base/error.hpp"
#include "kernels/registry.hpp"

namespace trireme {
namespace {

TEST(ChooseKernel, TakesAlbusOnTheCpuWhateverTheRows) {
  EXPECT_EQ(choose_kernel(Device::cpu, {}), "albus");
  EXPECT_EQ(choose_kernel(Device::cpu, {.rows = 10, .nnz = 5'000'000, .longest = 4'000'000}),
            "albus");
}

TEST(PlainKernel, IsWhatReadsCsrOnItsDevice) {
  EXPECT_EQ(plain_kernel(Device::cpu).name, "csr");
  EXPECT_EQ(plain_kernel(Device::cuda).name, "csr-vector");
  for (const Device device : {Device::cpu, Device::cuda}) {
    const KernelEntry& plain = plain_kernel(device);
    EXPECT_EQ(device == Device::cpu ? plain.host_layout_bytes : plain.cuda_layout_bytes, 0);
  }
}

MatrixTraits many_rows(std::int64_t longest, bool exact_in_float) {
  return {
      .rows = 1'000'000, .nnz = 7'000'000, .longest = longest, .exact_in_float = exact_in_float};
}

bool has_kernels_for_gpus() { return find_kernel("dasp").cuda_double != nullptr; }

class ChooseKernelOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_kernels_for_gpus()) GTEST_SKIP() << "a build without CUDA";
  }
};

TEST_F(ChooseKernelOnGpu, TakesSellForManyRowsOfLikeLengthWithValuesStoredInFp32) {
  EXPECT_EQ(choose_kernel(Device::cuda, many_rows(28, true)), "sell");
  EXPECT_EQ(choose_kernel(Device::cuda, many_rows(28, false), Precision::mixed), "sell");
}
TEST_F(ChooseKernelOnGpu, TakesSellForManyRowsOfLikeLengthWithFewPatterns) {
  MatrixTraits grid = many_rows(28, false);
  grid.few_patterns = true;
  EXPECT_EQ(choose_kernel(Device::cuda, grid), "sell");
  grid.longest = 29;
  EXPECT_EQ(choose_kernel(Device::cuda, grid), "dasp");
}
TEST_F(ChooseKernelOnGpu, TakesDaspForOtherLargeMatrices) {
  EXPECT_EQ(choose_kernel(Device::cuda, many_rows(29, true)), "dasp");
  EXPECT_EQ(choose_kernel(Device::cuda, many_rows(28, false)), "dasp");
}
TEST_F(ChooseKernelOnGpu, TakesSellForLongRowsOfLikeLength) {
  MatrixTraits band{.rows = 30'000, .nnz = 256 * 30'000, .longest = 600};
  EXPECT_EQ(choose_kernel(Device::cuda, band), "sell");
  band.longest = 60'000;
  EXPECT_EQ(choose_kernel(Device::cuda, band), "dasp");
}
TEST_F(ChooseKernelOnGpu, BeginsWithOneOfTheKernelsThatAreLoadedMeanwhile) {
  const auto loaded = kernels_to_begin_with(Device::cuda);
  std::set<std::string_view> begun_with;
  for (const std::int64_t rows : {1'000, 1'000'000})
    for (const std::int64_t mean : {7, 300})
      for (const std::int64_t longest : {1, 6, 100})
        for (const bool exact : {false, true})
          begun_with.insert(choose_kernel(Device::cuda, {.rows = rows,
                                                         .nnz = rows * mean,
                                                         .longest = mean * longest,
                                                         .exact_in_float = exact}));
  EXPECT_EQ(std::set<std::string_view>(loaded.begin(), loaded.end()), begun_with);
  EXPECT_EQ(loaded.size(), begun_with.size());
}
TEST_F(ChooseKernelOnGpu, TakesCsrVectorForFewNonzerosAndTebForLongRowsAmongThem) {
  EXPECT_EQ(choose_kernel(Device::cuda, {.rows = 10'000, .nnz = 70'000, .longest = 56}),
            "csr-vector");
  EXPECT_EQ(choose_kernel(Device::cuda, {.rows = 10'000, .nnz = 70'000, .longest = 57}), "teb");
  const MatrixTraits few{.rows = 100'000, .nnz = 999'999, .longest = 20};
  MatrixTraits many = few;
  many.nnz = 1'000'000;
  EXPECT_EQ(choose_kernel(Device::cuda, few), "csr-vector");
  EXPECT_EQ(choose_kernel(Device::cuda, many), "dasp");
}
TEST_F(ChooseKernelOnGpu, TakesSomeKernelForAMatrixWithoutRows) {
  EXPECT_EQ(choose_kernel(Device::cuda, {}), "csr-vector");
}
TEST(ChooseKernel, SaysThatABuildWithoutCudaHasNoneForAGpu) {
  if (has_kernels_for_gpus()) GTEST_SKIP() << "a build with CUDA";
  try {
    choose_kernel(Device::cuda, {});
    FAIL() << "chose a kernel";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
}

}  // namespace
}  // namespace trireme
