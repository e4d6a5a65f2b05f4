// SPDX-License-Identifier: BSD-3-Clause
// Every host kernel of the registry in blocks of a few nonzeros, as a matrix of more than 2^31-1
// nonzeros would have it.
#include "kernels/blocked_kernel.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "kernels/multi_product.hpp"
#include "kernels/registry.hpp"
#include "sparse/row_blocks.hpp"
#include "support/host_product.hpp"
#include "support/refusal.hpp"
#include "support/several_vectors.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

// Blocks so that there are several; the longest row fits.
template <class Value>
CsrMatrix<Value> in_blocks(CsrMatrix<Value> a, std::int64_t blocks) {
  std::int64_t longest = 1;
  for (std::int64_t row = 0; row < a.rows; ++row)
    longest = std::max<std::int64_t>(longest, a.row_ptr[row + 1] - a.row_ptr[row]);
  cut_again(a, std::max(longest, a.nnz() / blocks));
  return a;
}

// Null where a block is one that the kernel must refuse.
template <class Value>
std::unique_ptr<HostKernel<Value>> build(const std::string& name, const CsrMatrix<Value>& a) {
  for (const RowBlock<Value>& block : a.blocks())
    if (test::must_refuse(name, block.csr)) return nullptr;
  return build_by_blocks(
      a, [&](const CsrView<Value>& block) { return build_host_kernel<Value>(name, block); });
}

class BlockedKernels : public testing::TestWithParam<std::string> {};

template <class Value>
void expect_products(const std::string& name) {
  for (const auto& [shape, matrix] : test::contract_shapes<Value>())
    for (const std::int64_t blocks : {2, 5}) {
      SCOPED_TRACE(shape);
      CsrMatrix<Value> a = in_blocks(matrix, blocks);
      const auto kernel = build(name, a);
      if (!kernel) continue;
      EXPECT_TRUE(test::matches_reference(*kernel, matrix.view()));
      CsrMatrix<Value> updated = matrix;
      updated.values = test::random_vector<Value>(matrix.nnz(), 99);
      kernel->update_values(updated.values);
      EXPECT_TRUE(test::matches_reference(*kernel, updated.view()));
      EXPECT_GE(kernel->statistics().stored_bytes, matrix.nnz());
    }
}

TEST_P(BlockedKernels, MatchTheReferenceOnEveryShapeAndTakeNewValues) {
  const KernelEntry& entry = find_kernel(GetParam());
  if (entry.host_double) expect_products<double>(GetParam());
  if (entry.host_float) expect_products<float>(GetParam());
  if (entry.host_int) expect_products<std::int32_t>(GetParam());
}

TEST_P(BlockedKernels, MultiplySeveralVectors) {
  if (!find_kernel(GetParam()).host_double) GTEST_SKIP() << "no double precision";
  const auto whole = test::contract_shape<double>("ShortAndMedium");
  CsrMatrix<double> a = in_blocks(whole, 4);
  ASSERT_GE(a.cuts.size(), 3u);
  const auto kernel = build(GetParam(), a);
  ASSERT_TRUE(kernel);
  constexpr std::int64_t kWidth = 5;
  const auto x = test::random_vector<double>(a.cols * kWidth, 3);
  Array<double> y(a.rows * kWidth);
  MultiProduct<double>(*kernel, a.rows, a.cols)
      .multiply(side_by_side(x.data(), a.cols, kWidth), side_by_side(y.data(), a.rows, kWidth),
                Accumulate::no);
  for (std::int64_t j = 0; j < kWidth; ++j) {
    Array<double> xj(a.cols), yj(a.rows);
    for (std::int64_t i = 0; i < a.cols; ++i) xj[i] = x[i * kWidth + j];
    for (std::int64_t i = 0; i < a.rows; ++i) yj[i] = y[i * kWidth + j];
    EXPECT_TRUE(compare_product<double>(whole.view(), xj, yj).within_bound());
  }
}

std::vector<std::string> host_kernels() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_double || entry.host_float || entry.host_int) names.emplace_back(entry.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, BlockedKernels, testing::ValuesIn(host_kernels()), test_name);

// A row of csr is one sum, in whatever block it lies.
TEST(BlockedKernel, OfCsrHasTheBitsOfOneBlock) {
  const auto whole = test::contract_shape<double>("AllMixed");
  const CsrMatrix<double> a = in_blocks(whole, 7);
  ASSERT_GE(a.cuts.size(), 3u);
  const auto one = build("csr", whole), several = build("csr", a);
  const auto x = test::random_vector<double>(a.cols);
  Array<double> expected(a.rows), y(a.rows);
  one->multiply(x, expected, Accumulate::no);
  several->multiply(x, y, Accumulate::no);
  EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(double)), 0);
}

TEST(BlockedKernel, IsNoneForAMatrixOfOneBlock) {
  const auto a = test::contract_shape<double>("AllMixed");
  EXPECT_EQ(dynamic_cast<BlockedKernel<double>*>(build("csr", a).get()), nullptr);
}

}  // namespace
}  // namespace trireme
