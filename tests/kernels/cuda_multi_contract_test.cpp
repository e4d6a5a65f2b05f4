// SPDX-License-Identifier: BSD-3-Clause
// Tests the product with several vectors on every CUDA kernel of the registry that has one: each
// vector of the result is judged by the independent reference.
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "support/device_product.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::same_bits;

// A kernel in device memory with its matrix, and vectors side by side with `gap` elements between
// the rows.
template <class Value>
class DeviceVectors {
 public:
  DeviceVectors(CudaBuilder<Value> builder, const CsrMatrix<Value>& a, std::int64_t gap = 0)
      : a_(a),
        gap_(gap),
        on_device_(to_device(a.view(), stream_)),
        kernel_(builder(on_device_.view(), stream_)) {}

  bool has_product() const { return kernel_->multiplies_vectors(); }
  const CsrMatrix<Value>& matrix() const { return a_; }

  // X has cols * (width + gap) elements, `before` rows * (width + gap). Returns Y = A X or
  // before + A X, with the gaps.
  Array<Value> multiply(const Array<Value>& x, std::int64_t width, const Array<Value>& before,
                        Accumulate how) {
    const auto on_device = to_device(std::span<const Value>(x), stream_);
    const auto y = to_device(std::span<const Value>(before), stream_);
    kernel_->multi_multiply({on_device.data(), a_.cols, width, stride(width), 1},
                            {y.data(), a_.rows, width, stride(width), 1}, how, stream_);
    return to_host(y.view(), stream_);
  }
  void update_values(const Array<Value>& values) {
    a_.values = values;
    new_values_ = to_device(std::span<const Value>(a_.values), stream_);
    kernel_->update_values(new_values_.view(), stream_);
    fill_nan(on_device_.values.span(), stream_);
  }

  std::int64_t stride(std::int64_t width) const { return std::max<std::int64_t>(1, width + gap_); }

 private:
  Stream stream_;
  CsrMatrix<Value> a_;
  std::int64_t gap_;
  DeviceCsrMatrix<Value> on_device_;
  DeviceBuffer<Value> new_values_;
  std::unique_ptr<CudaKernel<Value>> kernel_;
};

template <class Value>
Array<Value> vector_of(const Array<Value>& all, std::int64_t size, std::int64_t stride,
                       std::int64_t j) {
  Array<Value> one(size);
  for (std::int64_t i = 0; i < size; ++i) one[i] = all[i * stride + j];
  return one;
}

// Checks Y = A X into a poisoned Y and Y += A X. Nothing between the vectors may change.
template <class Value>
void expect_products(DeviceVectors<Value>& product, std::int64_t width) {
  const CsrView<Value> a = product.matrix().view();
  const std::int64_t stride = product.stride(width);
  Array<Value> x = test::poisoned_vector<Value>(a.cols * stride);
  Array<Value> start = test::poisoned_vector<Value>(a.rows * stride);
  test::Random random(5);
  for (std::int64_t i = 0; i < a.cols; ++i)
    for (std::int64_t j = 0; j < width; ++j) x[i * stride + j] = random.value<Value>();
  for (const Accumulate how : {Accumulate::no, Accumulate::yes}) {
    if (how == Accumulate::yes)
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < width; ++j) start[i * stride + j] = random.value<Value>();
    Array<Value> y = product.multiply(x, width, start, how);
    for (std::int64_t j = 0; j < width; ++j) {
      const auto before =
          how == Accumulate::yes ? vector_of(start, a.rows, stride, j) : Array<Value>();
      EXPECT_TRUE(test::judge(compare_product<Value>(a, vector_of(x, a.cols, stride, j),
                                                     vector_of(y, a.rows, stride, j), before),
                              how == Accumulate::yes ? "Y += A X" : "Y = A X"))
          << "vector " << j << " of " << width;
    }
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < width; ++j) y[i * stride + j] = start[i * stride + j];
    EXPECT_TRUE(same_bits(y, start)) << "something changed between the vectors";
  }
}

class CudaMultiContract : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
    const auto a = test::contract_shape<double>("OneByOne");
    const KernelEntry& entry = find_kernel(GetParam());
    if (!DeviceVectors<double>(entry.cuda_double, a).has_product())
      GTEST_SKIP() << "the kernel multiplies one vector only";
  }

  template <class Check>
  void for_each_value_type(Check&& check) {
    const KernelEntry& entry = find_kernel(GetParam());
    check.template operator()<double>(entry.cuda_double);
    if (entry.cuda_float) check.template operator()<float>(entry.cuda_float);
  }
};

TEST_P(CudaMultiContract, MatchesReferenceForEveryWidth) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    for (const std::string name : {"AllMixed", "OneDenseRow"}) {
      SCOPED_TRACE(name);
      DeviceVectors<Value> product(builder, test::contract_shape<Value>(name));
      for (const std::int64_t width : {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 100})
        expect_products(product, width);
    }
  });
}

TEST_P(CudaMultiContract, MatchesReferenceOnEveryShapeWithAndWithoutGaps) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    for (const auto& [name, a] : test::contract_shapes<Value>())
      for (const std::int64_t gap : {0, 3}) {
        SCOPED_TRACE(name);
        DeviceVectors<Value> product(builder, a, gap);
        expect_products(product, 9);
      }
  });
}

TEST_P(CudaMultiContract, TakesNewValuesAndMoreVectorsThanRows) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    DeviceVectors<Value> mixed(builder, test::contract_shape<Value>("AllMixed"));
    mixed.update_values(test::random_vector<Value>(mixed.matrix().nnz(), 99));
    expect_products(mixed, 9);
    DeviceVectors<Value> small(builder, test::matrix_with_row_lengths<Value>({3, 0, 2}, 5));
    for (const std::int64_t width : {8, 64, 100}) expect_products(small, width);
  });
}

TEST_P(CudaMultiContract, GivesTheSameBitsInTwentyRuns) {
  if (!find_kernel(GetParam()).deterministic) GTEST_SKIP() << "registered as not deterministic";
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    for (const std::string name : {"AllMixed", "DenseFirstAndLastRow"})
      for (const std::int64_t width : {3, 37}) {
        SCOPED_TRACE(name);
        DeviceVectors<Value> product(builder, test::contract_shape<Value>(name));
        const auto& a = product.matrix();
        const auto x = test::random_vector<Value>(a.cols * width, 4);
        const auto y = test::poisoned_vector<Value>(a.rows * width);
        const auto first = product.multiply(x, width, y, Accumulate::no);
        for (int run = 1; run < 20; ++run)
          ASSERT_TRUE(same_bits(first, product.multiply(x, width, y, Accumulate::no))) << run;
      }
  });
}

TEST_P(CudaMultiContract, ANanInOneVectorReachesOnlyThatVector) {
  for_each_value_type([&]<class Value>(CudaBuilder<Value> builder) {
    DeviceVectors<Value> product(builder, test::contract_shape<Value>("AllMixed"));
    const auto& a = product.matrix();
    constexpr std::int64_t kWidth = 11, kBadColumn = 1503;
    auto x = test::random_vector<Value>(a.cols * kWidth, 4);
    const auto poison = test::poisoned_vector<Value>(a.rows * kWidth);
    for (const std::int64_t bad : {0, 3, 10}) {
      SCOPED_TRACE("vector " + std::to_string(bad));
      auto with_nan = x;
      with_nan[kBadColumn * kWidth + bad] = std::numeric_limits<Value>::quiet_NaN();
      const auto y = product.multiply(with_nan, kWidth, poison, Accumulate::no);
      std::int64_t reached = 0;
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < kWidth; ++j)
          if (!std::isfinite(y[i * kWidth + j])) {
            EXPECT_EQ(j, bad) << i;
            ++reached;
          }
      EXPECT_GT(reached, 0);
    }
  });
}

std::vector<std::string> kernels_in_double() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.cuda_double) names.emplace_back(entry.name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaMultiContract);
INSTANTIATE_TEST_SUITE_P(Kernels, CudaMultiContract, testing::ValuesIn(kernels_in_double()),
                         test_name);

}  // namespace
}  // namespace trireme
