// SPDX-License-Identifier: BSD-3-Clause
// Every CUDA kernel of the registry on matrices in blocks of a few nonzeros, as a matrix of more
// than 2^31 nonzeros has them. Skips without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cut_matrix.hpp"
#include "device/device.hpp"
#include "kernels/blocked_cuda_kernel.hpp"
#include "kernels/registry.hpp"
#include "sparse/generators.hpp"
#include "sparse/row_blocks.hpp"
#include "support/device_product.hpp"
#include "support/refusal.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::poisoned_vector;
using test::random_vector;

using Builder = CudaBuilder<double>;

// A matrix on the device in its blocks, with a kernel. The values in device memory are those of the
// matrix, which mixed precision rounds.
class BlockedProduct {
 public:
  BlockedProduct(Builder builder, const CsrMatrix<double>& a)
      : on_device_(to_device(a, uploader_, stream_)),
        kernel_(build_by_blocks<double>(on_device_.blocks(), [&](const DeviceCsr<double>& block) {
          return builder(block, stream_);
        })) {}

  CudaKernel<double>& kernel() { return *kernel_; }

  // Into a poisoned y, or onto `before`.
  Array<double> multiply(const Array<double>& x, const Array<double>& before = {}) {
    return multiply_vectors(x, 1, 1, before);
  }
  // `width` vectors in rows of `stride` numbers.
  Array<double> multiply_vectors(const Array<double>& x, std::int64_t width, std::int64_t stride,
                                 const Array<double>& before = {}) {
    const std::int64_t rows = on_device_.arrays.rows, cols = on_device_.arrays.cols;
    const auto from = to_device(std::span<const double>(x), stream_);
    const DeviceBuffer<double> to(rows * stride, stream_);
    const Accumulate accumulate = before.empty() ? Accumulate::no : Accumulate::yes;
    fill_nan(to.span(), stream_);
    copy_to_device(std::span<const double>(before), to.span(), stream_);
    if (stride == 1)
      kernel_->multiply(from.view(), to.span(), accumulate, stream_);
    else
      kernel_->multi_multiply({from.data(), cols, width, stride}, {to.data(), rows, width, stride},
                              accumulate, stream_);
    return to_host(to.view(), stream_);
  }
  // y = A x into a poisoned y, and the sum of poisoned partial sums.
  std::pair<Array<double>, double> multiply_and_dot(const Array<double>& x) {
    const auto from = to_device(std::span<const double>(x), stream_);
    const DeviceBuffer<double> to(on_device_.arrays.rows, stream_);
    const DeviceBuffer<double> partials(kernel_->dot_partials(), stream_);
    fill_nan(to.span(), stream_);
    fill_nan(partials.span(), stream_);
    kernel_->multiply_and_dot(from.view(), to.span(), partials.span(), stream_);
    double sum = 0;
    for (const double partial : to_host(partials.view(), stream_)) sum += partial;
    return {to_host(to.view(), stream_), sum};
  }
  // Poisons the values that the kernel had.
  void update_values(const Array<double>& values) {
    next_ = to_device(std::span<const double>(values), stream_);
    kernel_->update_values(next_.view(), stream_);
    fill_nan(on_device_.arrays.values.span(), stream_);
    stream_.synchronize();
  }

 private:
  Stream stream_;
  Uploader uploader_;
  BlockedDeviceCsr<double> on_device_;
  DeviceBuffer<double> next_;
  std::unique_ptr<CudaKernel<double>> kernel_;
};

using test::CutMatrix;

CutMatrix cut_into(const std::string& name, const CsrMatrix<double>& a, std::int64_t blocks) {
  std::int64_t longest = 1;
  for (std::int64_t row = 0; row < a.rows; ++row)
    longest = std::max<std::int64_t>(longest, a.row_ptr[row + 1] - a.row_ptr[row]);
  CsrMatrix<double> cut = a;
  cut_again(cut, std::max(longest, a.nnz() / blocks));
  return {name + ", " + std::to_string(cut.cuts.size() + 1) + " blocks", a, std::move(cut)};
}

// The contract's shapes in about 2 and 5 blocks; one row per block; a block without entries.
std::vector<CutMatrix> cut_matrices() {
  std::vector<CutMatrix> all;
  for (const auto& [name, matrix] : test::contract_shapes<double>())
    for (const std::int64_t blocks : {2, 5})
      if (CutMatrix made = cut_into(name, matrix, blocks); !made.cut.cuts.empty())
        all.push_back(std::move(made));
  all.push_back(
      cut_into("OneRowPerBlock", test::matrix_with_row_lengths<double>({4, 4, 4, 4}, 9), 4));
  all.push_back(test::block_without_entries());
  return all;
}

// Whether the kernel must refuse one of the blocks, and with it the matrix; checks that it does.
bool refuses(std::string_view kernel, Builder builder, const CsrMatrix<double>& a) {
  if (!std::ranges::any_of(a.blocks(), [&](const RowBlock<double>& block) {
        return test::must_refuse(kernel, block.csr);
      }))
    return false;
  EXPECT_THROW(BlockedProduct(builder, a), Error);
  return true;
}

class BlockedCudaKernels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device(0);
  }
  // Calls body(builder, rounded) for double and for mixed precision, where the kernel has them.
  template <class Body>
  void in_its_precisions(const Body& body) {
    const KernelEntry& entry = find_kernel(GetParam());
    if (entry.cuda_double) {
      SCOPED_TRACE("double");
      body(entry.cuda_double, false);
    }
    if (entry.cuda_mixed) {
      SCOPED_TRACE("mixed");
      body(entry.cuda_mixed, true);
    }
  }
};

void expect_products(BlockedProduct& product, const CsrMatrix<double>& a) {
  const Array<double> x = random_vector<double>(a.cols, 11);
  EXPECT_TRUE(test::judge(compare_product<double>(a.view(), x, product.multiply(x)), "y = A x"));
  const Array<double> before = random_vector<double>(a.rows, 12);
  EXPECT_TRUE(test::judge(compare_product<double>(a.view(), x, product.multiply(x, before), before),
                          "y += A x"));
}

void expect_dot(BlockedProduct& product, const CsrMatrix<double>& a) {
  if (a.rows != a.cols) {
    EXPECT_EQ(product.kernel().dot_partials(), 0u);
    return;
  }
  if (product.kernel().dot_partials() == 0) return;
  const Array<double> x = random_vector<double>(a.cols, 13);
  const auto [y, sum] = product.multiply_and_dot(x);
  EXPECT_TRUE(test::judge(compare_product<double>(a.view(), x, y), "y = A x, with x . y"));
  double expected = 0, size = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    expected += x[i] * y[i];
    size += std::abs(x[i] * y[i]);
  }
  EXPECT_NEAR(sum, expected, 1e-13 * (size + 1e-300)) << "x . y";
}

TEST_P(BlockedCudaKernels, MatchTheReferenceOnEveryShapeAndTakeNewValues) {
  int products = 0;
  in_its_precisions([&](Builder builder, bool rounded) {
    for (const CutMatrix& matrix : cut_matrices()) {
      SCOPED_TRACE(matrix.name);
      if (refuses(GetParam(), builder, matrix.cut)) continue;
      BlockedProduct product(builder, matrix.cut);
      CsrMatrix<double> expected = matrix.whole;
      const auto as_stored = [&] { return rounded ? test::rounded_to_float(expected) : expected; };
      expect_products(product, as_stored());
      expected.values = random_vector<double>(expected.nnz(), 77);
      product.update_values(expected.values);
      expect_products(product, as_stored());
      expect_dot(product, as_stored());
      EXPECT_GT(product.kernel().statistics().stored_bytes, 0);
      ++products;
    }
  });
  EXPECT_GT(products, 0);
}

TEST_P(BlockedCudaKernels, MultiplySeveralVectorsAsOneByOne) {
  constexpr std::int64_t kWidth = 5, kStride = 6;
  in_its_precisions([&](Builder builder, bool rounded) {
    for (const char* shape : {"ShortAndMedium", "SomeRowsEmpty", "AllMixed"}) {
      SCOPED_TRACE(shape);
      const CutMatrix matrix = cut_into(shape, test::contract_shape<double>(shape), 4);
      ASSERT_FALSE(matrix.cut.cuts.empty());
      if (refuses(GetParam(), builder, matrix.cut)) continue;
      BlockedProduct product(builder, matrix.cut);
      if (!product.kernel().multiplies_vectors()) continue;
      const CsrMatrix<double> a = rounded ? test::rounded_to_float(matrix.whole) : matrix.whole;
      const Array<double> x = random_vector<double>(a.cols * kStride, 3);
      const Array<double> y = product.multiply_vectors(x, kWidth, kStride);
      for (std::int64_t j = 0; j < kWidth; ++j) {
        Array<double> xj(a.cols), yj(a.rows);
        for (std::int64_t i = 0; i < a.cols; ++i) xj[i] = x[i * kStride + j];
        for (std::int64_t i = 0; i < a.rows; ++i) yj[i] = y[i * kStride + j];
        EXPECT_TRUE(test::judge(compare_product<double>(a.view(), xj, yj), "Y = A X"));
      }
    }
  });
}

std::vector<std::string> cuda_kernels() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.cuda_double || entry.cuda_mixed) names.emplace_back(entry.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, BlockedCudaKernels, testing::ValuesIn(cuda_kernels()), test_name);

class BlockedCudaKernelOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device(0);
  }
};

TEST_F(BlockedCudaKernelOnAGpu, SumsTheDotProductWithTheKernelsOfLargeSystems) {
  const CutMatrix matrix = cut_into("grid", test::contract_shape<double>("EveryLengthTo600"), 5);
  ASSERT_EQ(matrix.whole.rows, matrix.whole.cols);
  for (const char* name : {"csr-scalar", "csr-vector", "albus"}) {
    SCOPED_TRACE(name);
    BlockedProduct product(find_kernel(name).cuda_double, matrix.cut);
    EXPECT_GT(product.kernel().dot_partials(), 0u);
    expect_dot(product, matrix.whole);
  }
  GenerateSpec spec;
  spec.kind = "poisson3d";
  spec.n = 70;  // many repeated rows
  const CutMatrix repeated =
      cut_into("poisson3d", generate(spec, 0, generator_shape(spec).rows).local, 3);
  BlockedProduct product(find_kernel("sell").cuda_double, repeated.cut);
  EXPECT_GT(product.kernel().dot_partials(), 0u);
  expect_dot(product, repeated.whole);
}

// A row of csr-scalar is one sum, in whatever block it lies.
TEST_F(BlockedCudaKernelOnAGpu, OfCsrScalarHasTheBitsOfOneBlock) {
  const Builder builder = find_kernel("csr-scalar").cuda_double;
  for (const CutMatrix& matrix : cut_matrices()) {
    SCOPED_TRACE(matrix.name);
    BlockedProduct several(builder, matrix.cut), one(builder, matrix.whole);
    const Array<double> x = random_vector<double>(matrix.whole.cols, 5);
    EXPECT_TRUE(test::same_bits(several.multiply(x), one.multiply(x)));
  }
}

}  // namespace
}  // namespace trireme
