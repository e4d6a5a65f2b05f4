// SPDX-License-Identifier: BSD-3-Clause
// Every host kernel of the registry in blocks of a few nonzeros, as a matrix of more than 2^31-1
// nonzeros would have it.
#include "kernels/blocked_kernel.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/kernel_names.hpp"
#include "kernels/multi_product.hpp"
#include "kernels/registry.hpp"
#include "sparse/row_blocks.hpp"
#include "support/host_product.hpp"
#include "support/refusal.hpp"
#include "support/several_vectors.hpp"
#include "support/shapes.hpp"
#include "support/watched.hpp"
#include "support/with_threads.hpp"

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
  return build_by_blocks<Value>(
      a, [&](const CsrView<Value>& block) { return build_host_kernel<Value>(name, block); });
}

class BlockedKernels : public testing::TestWithParam<std::string> {};

template <class Value>
void expect_products(const std::string& name) {
  for (const auto& [shape, matrix] : test::contract_shapes<Value>())
    for (const std::int64_t blocks : {2, 5}) {
      if (test::watched() && blocks == 2) continue;
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

INSTANTIATE_TEST_SUITE_P(Kernels, BlockedKernels, testing::ValuesIn(test::host_kernels()),
                         test::name_of_test);

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

// Rows of several lengths, cut into four blocks, none of which begins with a chunk or with a share.
CsrMatrix<double> four_blocks() {
  std::vector<std::int64_t> lengths(1003, 5);
  for (std::size_t i = 0; i < lengths.size(); i += 7) lengths[i] = static_cast<std::int64_t>(i % 5);
  CsrMatrix<double> a = test::matrix_with_row_lengths<double>(lengths, 1003);
  cut_again(a, a.nnz() / 4 + 50);
  return a;
}

TEST(BlockedKernel, HasTheBitsOfOneBlockForAnyNumberOfThreads) {
  const CsrMatrix<double> a = four_blocks();
  CsrMatrix<double> whole = a;
  cut_again(whole, a.nnz());
  const auto x = test::random_vector<double>(a.cols);
  Array<double> expected(a.rows), y(a.rows);
  build("csr", whole)->multiply(x, expected, Accumulate::no);
  for (const int threads : {1, 2, 3, 7, 16}) {
    SCOPED_TRACE(threads);
    const test::WithThreads with(threads);
    const auto kernel = build("csr", a);
    kernel->multiply(x, y, Accumulate::no);
    EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(double)), 0);
    const test::WithThreads fewer(2);  // than at the build, or more
    std::ranges::fill(y, -1);
    kernel->multiply(x, y, Accumulate::no);
    EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(double)), 0);
    EXPECT_EQ(omp_get_max_threads(), 2);
  }
}

// Each thread has consecutive rows, with one kernel per block that they touch.
TEST(BlockedKernel, GivesEachThreadAnEqualShareOfConsecutiveRows) {
  const CsrMatrix<double> a = four_blocks();
  for (const int threads : {2, 3, 6}) {
    SCOPED_TRACE(threads);
    const test::WithThreads with(threads);
    std::mutex guard;
    std::map<std::thread::id, std::pair<std::int64_t, std::int64_t>> of_thread;  // rows, nonzeros
    std::int64_t kernels = 0;
    build_by_blocks<double>(a, [&](const CsrView<double>& part) {
      EXPECT_EQ(omp_get_max_threads(), 1);
      EXPECT_EQ(part.row_ptr[0], 0);
      const std::lock_guard lock(guard);
      auto& [rows, nnz] = of_thread[std::this_thread::get_id()];
      rows += part.rows;
      nnz += part.nnz();
      ++kernels;
      return build_host_kernel<double>("csr", part);
    });
    EXPECT_LE(kernels, std::ssize(a.cuts) + threads);
    ASSERT_EQ(std::ssize(of_thread), threads);
    for (const auto& [id, share] : of_thread)
      EXPECT_NEAR(static_cast<double>(share.first + share.second),
                  static_cast<double>(a.rows + a.nnz()) / threads, 10);
  }
}

// One row is most of the matrix, so that threads with rows of their own would wait for one of them.
TEST(BlockedKernel, LeavesABlockToAllThreadsWhereRowsAreLong) {
  std::vector<std::int64_t> lengths(300, 1);
  lengths[100] = 300;
  CsrMatrix<double> a = test::matrix_with_row_lengths<double>(lengths, 300);
  cut_again(a, 350);
  ASSERT_FALSE(a.cuts.empty());
  const test::WithThreads with(4);
  std::int64_t kernels = 0;
  const auto kernel = build_by_blocks<double>(a, [&](const CsrView<double>& block) {
    EXPECT_EQ(omp_get_max_threads(), 4);
    ++kernels;
    return build_host_kernel<double>("albus", block);
  });
  EXPECT_EQ(kernels, std::ssize(a.cuts) + 1);
  cut_again(a, a.nnz());
  EXPECT_TRUE(test::matches_reference(*kernel, a.view()));
}

TEST(BlockedKernel, ThrowsTheErrorOfTheFirstPart) {
  const CsrMatrix<double> a = four_blocks();
  const test::WithThreads with(3);
  try {
    build_by_blocks<double>(a, [&](const CsrView<double>& part) {
      if (part.row_ptr.data() != a.row_ptr.data()) fail(ExitCode::resource, "later");
      fail(ExitCode::resource, "first");
      return std::unique_ptr<HostKernel<double>>();
    });
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

// The sums of a block solver, in the bits of a pass after the product.
TEST(BlockedKernel, SumsDotProductsOfChunksThatCrossBlocks) {
  const CsrMatrix<double> a = four_blocks();
  CsrMatrix<double> whole = a;
  cut_again(whole, a.nnz());
  constexpr std::int64_t kWidth = 9, kChunk = 64, kChunks = (1003 + kChunk - 1) / kChunk;
  const auto x = test::random_vector<double>(a.cols * kWidth, 5);
  for (const std::string name : {"csr", "albus"})
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(name + ", " + std::to_string(threads) + " threads");
      const test::WithThreads with(threads);
      const auto multiply = [&](const CsrMatrix<double>& matrix, Array<double>& y) {
        const auto kernel = build(name, matrix);
        Array<double> dots(kChunks * kWidth, -1.0);
        EXPECT_TRUE(MultiProduct<double>(*kernel, a.rows, a.cols)
                        .multiply_and_dot(side_by_side(x.data(), a.cols, kWidth),
                                          side_by_side(y.data(), a.rows, kWidth), kChunk,
                                          dots.data()));
        return dots;
      };
      Array<double> y(a.rows * kWidth, -1.0), expected(a.rows * kWidth, -1.0);
      EXPECT_EQ(multiply(a, y), multiply(whole, expected));
      EXPECT_EQ(y, expected);
    }
}

TEST(BlockedKernel, IsNoneForAMatrixOfOneBlock) {
  const auto a = test::contract_shape<double>("AllMixed");
  EXPECT_EQ(dynamic_cast<BlockedKernel<double>*>(build("csr", a).get()), nullptr);
}

}  // namespace
}  // namespace trireme
