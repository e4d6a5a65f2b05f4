// SPDX-License-Identifier: BSD-3-Clause
// Tests that SELL built on the device has the arrays of the host builder, and that it multiplies
// large matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "device/device.hpp"
#include "kernels/sell/build.hpp"
#include "kernels/sell/device_layout.hpp"
#include "kernels/sell/nearly_regular.hpp"
#include "kernels/sell/ragged_device_layout.hpp"
#include "kernels/sell/ragged_shapes.hpp"
#include "kernels/sell/sell.hpp"
#include "kernels/sell/tuning.hpp"
#include "sparse/generators.hpp"
#include "support/device_product.hpp"
#include "support/device_vectors.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

template <class Value>
class SellOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};
using ValueTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(SellOnDevice, ValueTypes);

template <class T>
bool same(const Array<T>& host, const DeviceBuffer<T>& device, const Stream& stream) {
  return host == to_host(device.view(), stream);
}

// The shapes of the contract, and matrices that are large enough for lanes of 4 and of 2 rows, with
// and without patterns. In double precision each shape also comes with values that FP32 represents
// exactly.
template <class Value>
std::vector<test::Shape<Value>> shapes_of_every_lane() {
  auto shapes = test::contract_shapes<Value>();
  for (const bool narrow : {true, false}) {
    CsrMatrix<Value> a;
    a.rows = sell::kLargeMatrix + 77;
    a.cols = 300'000;
    test::Random random(5);
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const std::int64_t length = row % 97 == 0 ? 0 : row == 5000 ? 3000 : row % 6;
      for (std::int64_t k = 0; k < length; ++k) {
        a.col_idx.push_back(
            static_cast<std::int32_t>(narrow ? row / 2 + k : (row * 7919 + k * 20'011) % a.cols));
        a.values.push_back(random.value<Value>());
      }
      a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
    }
    shapes.push_back({narrow ? "LargeNarrow" : "LargeWide", std::move(a)});
  }
  for (const bool sorted : {false, true}) {
    shapes.push_back({sorted ? "SmallSortedPatterns" : "SmallPatterns",
                      test::nearly_regular<Value>(60'000, sorted)});
    shapes.push_back({sorted ? "LargeSortedPatterns" : "LargePatterns",
                      test::nearly_regular<Value>(2 * sell::kLargeMatrix + 77, sorted)});
    shapes.push_back({sorted ? "SmallSortedRepeated" : "SmallRepeated",
                      test::repeating<Value>(60'000, sorted, 150)});
    // The patterns of 20 kinds are multiplied from shared memory, those of 200 are too many for it.
    for (const int kinds : sorted ? std::vector{20} : std::vector{20, 200}) {
      shapes.push_back(
          {(sorted ? "LargeSortedRepeated" : "LargeRepeated") + std::to_string(kinds),
           test::repeating<Value>((kinds == 20 ? 1 : 3) * sell::kLargeMatrix + 77, sorted, kinds)});
    }
  }
  if constexpr (std::is_same_v<Value, double>)
    for (std::size_t k = shapes.size(); k-- > 0;)
      shapes.push_back({shapes[k].name + "InFloat", test::rounded_to_float(shapes[k].matrix)});
  return shapes;
}

TYPED_TEST(SellOnDevice, MultipliesWithLanesOfEverySize) {
  for (const auto& shape : shapes_of_every_lane<TypeParam>()) {
    if (shape.matrix.rows < 60'000) continue;
    SCOPED_TRACE(shape.name);
    test::DeviceProduct<TypeParam, TypeParam> product(build_sell_cuda<TypeParam>, shape.matrix);
    EXPECT_TRUE(test::matches_reference(product));
  }
}

// Without a gap, the rows of 8, 24 and 32 vectors lie at multiples of 16 bytes.
TYPED_TEST(SellOnDevice, MultipliesSeveralVectorsWithLanesOfEverySize) {
  for (const auto& shape : shapes_of_every_lane<TypeParam>()) {
    // The largest takes a minute, and the second largest the same code.
    if (shape.matrix.rows < 60'000 || shape.matrix.rows > 3 * sell::kLargeMatrix) continue;
    SCOPED_TRACE(shape.name);
    test::DeviceVectors<TypeParam> product(build_sell_cuda<TypeParam>, shape.matrix);
    for (const std::int64_t width : {3, 8, 24, 32}) test::expect_products(product, width);
    test::DeviceVectors<TypeParam> with_gaps(build_sell_cuda<TypeParam>, shape.matrix, 1);
    test::expect_products(with_gaps, 13);
  }
}

// The matrix has several slices per warp, exceeds the L2 cache even in FP32, and has consecutive
// slices without an entry. Without patterns, some rows are moved by up to 3000 columns.
template <class Value>
CsrMatrix<Value> matrix_of_many_slices(std::size_t l2_bytes, bool patterned) {
  CsrMatrix<Value> a;
  a.rows = a.cols = 128 * static_cast<std::int64_t>(10'000 + l2_bytes / 2000);
  const std::int64_t reach = patterned ? 100 : 3100;
  test::Random random(6);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t slice = row / 128, length = slice / 50 % 3 == 1 ? 0 : 1 + slice % 9;
    const std::int64_t moved = patterned ? 0 : row / 5 % 3000;
    for (std::int64_t k = 0; k < length; ++k) {
      a.col_idx.push_back(static_cast<std::int32_t>(std::min(row, a.cols - reach) + 3 * k + moved));
      a.values.push_back(static_cast<Value>(static_cast<float>(random.value<Value>())));
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

TYPED_TEST(SellOnDevice, MultipliesManySlicesPerWarpAlsoUnderASanitizer) {
  const std::size_t l2_bytes = device_properties().l2_bytes;
  std::vector<std::int64_t> bytes;
  for (const bool patterned : {false, true}) {
    test::DeviceProduct<TypeParam, TypeParam> product(
        build_sell_cuda<TypeParam>, matrix_of_many_slices<TypeParam>(l2_bytes, patterned));
    const KernelStatistics statistics = product.kernel().statistics();
    EXPECT_EQ(statistics.padding_ratio, 0);
    EXPECT_GT(static_cast<std::size_t>(statistics.stored_bytes), l2_bytes);
    EXPECT_TRUE(test::matches_reference(product));
    test::expect_dot(product);
    bytes.push_back(statistics.stored_bytes);
  }
  EXPECT_LT(bytes[1], bytes[0]);
}

TYPED_TEST(SellOnDevice, BuildsTheArraysOfTheHostBuilder) {
  const Stream stream;
  for (const auto& [name, matrix] : shapes_of_every_lane<TypeParam>()) {
    SCOPED_TRACE(name);
    std::vector<BuildStep> steps;
    auto host = sell::build(matrix.view(), steps);
    const auto a = to_device(matrix.view(), stream);
    const auto device = sell::build_on_device(a.view(), sell::StoreFp32::if_exact, steps, stream);
    EXPECT_EQ(host.form.sorted, device.form.sorted);
    EXPECT_EQ(host.form.patterned, device.form.patterned);
    EXPECT_EQ(host.form.repeated, device.form.repeated);
    EXPECT_EQ(name.find("Repeated") != name.npos, device.form.repeated);
    EXPECT_EQ(host.form.narrow, device.form.narrow);
    EXPECT_EQ(host.form.lane_rows, device.form.lane_rows);
    if constexpr (std::is_same_v<TypeParam, double>) {
      EXPECT_EQ(host.form.in_fp32, device.form.in_fp32);
    }
    auto order = host.row_order;
    order.insert(order.end(), host.long_rows.begin(), host.long_rows.end());
    EXPECT_TRUE(same(order, device.row_order, stream));
    EXPECT_TRUE(same(host.slice_ptr, device.slice_ptr, stream));
    EXPECT_TRUE(same(host.base, device.base, stream));
    EXPECT_TRUE(same(host.offsets, device.offsets, stream));
    EXPECT_TRUE(same(host.columns, device.columns, stream));
    EXPECT_TRUE(same(host.patterns, device.patterns, stream));
    EXPECT_TRUE(same(host.differences, device.differences, stream));
    EXPECT_TRUE(same(host.pattern_rows, device.pattern_rows, stream));
    EXPECT_TRUE(same(host.values, device.values, stream));
    EXPECT_TRUE(same(host.fp32_values, device.fp32_values, stream));
    EXPECT_TRUE(same(host.apart.col_idx, device.apart_col_idx, stream));
    if (host.form.in_fp32) {
      const Array<float> expected(host.apart.values.begin(), host.apart.values.end());
      EXPECT_TRUE(same(expected, device.apart_fp32, stream));
    } else {
      EXPECT_TRUE(same(host.apart.values, device.apart_values, stream));
    }
  }
}

// As StoresAllValuesWhenNewOnesDoNotRepeat of layout_test.cpp, with the dot product.
TYPED_TEST(SellOnDevice, StoresAllValuesWhenNewOnesDoNotRepeat) {
  for (const std::int64_t rows : {std::int64_t{60'000}, 3 * sell::kLargeMatrix + 77})
    for (const int kinds : {20, 200}) {
      const auto a = test::repeating<TypeParam>(rows, rows % 2 == 0, kinds);
      test::DeviceProduct<TypeParam, TypeParam> product(build_sell_cuda<TypeParam>, a);
      const auto bytes = product.kernel().statistics().stored_bytes;
      test::expect_dot(product);
      auto values = a.values;
      for (TypeParam& value : values) value *= 3;
      product.update_values(values);
      EXPECT_EQ(product.kernel().statistics().stored_bytes, bytes);
      EXPECT_TRUE(test::matches_reference(product));
      values[values.size() / 3] = 5;
      product.update_values(values);
      EXPECT_GT(product.kernel().statistics().stored_bytes, 2 * bytes);
      EXPECT_TRUE(test::matches_reference(product));
      test::expect_dot(product);
      product.update_values(a.values);
      EXPECT_TRUE(test::matches_reference(product));
    }
}

template <class Value>
std::vector<test::Shape<Value>> ragged_shapes_in_both_precisions() {
  auto shapes = test::ragged_shapes<Value>();
  if constexpr (std::is_same_v<Value, double>)
    for (std::size_t k = shapes.size(); k-- > 0;)
      shapes.push_back({shapes[k].name + "InFloat", test::rounded_to_float(shapes[k].matrix)});
  return shapes;
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_ragged(const DeviceCsr<Value>& matrix, StreamRef stream) {
  return sell::build_ragged_cuda(matrix, sell::StoreFp32::if_exact, stream);
}

TYPED_TEST(SellOnDevice, BuildsRaggedRowsAsTheHostDoes) {
  const Stream stream;
  for (const auto& [name, matrix] : ragged_shapes_in_both_precisions<TypeParam>()) {
    SCOPED_TRACE(name);
    const auto host = sell::build_ragged(matrix.view());
    const auto a = to_device(matrix.view(), stream);
    std::vector<BuildStep> steps;
    const auto device =
        sell::build_ragged_on_device(a.view(), sell::StoreFp32::if_exact, steps, stream);
    EXPECT_EQ(host.lane_rows, device.lane_rows);
    EXPECT_EQ(host.local, device.local);
    EXPECT_EQ(host.steps(), device.steps);
    EXPECT_EQ(host.parts(), device.parts);
    EXPECT_TRUE(same(host.row_order, device.row_order, stream));
    EXPECT_TRUE(same(host.slices, device.slices, stream));
    EXPECT_TRUE(same(host.cut_rows, device.cut_rows, stream));
    EXPECT_TRUE(same(host.base, device.base, stream));
    EXPECT_TRUE(same(host.columns, device.columns, stream));
    if constexpr (std::is_same_v<TypeParam, double>) {
      EXPECT_EQ(host.in_fp32, device.in_fp32);
      EXPECT_TRUE(same(host.fp32_values, device.fp32_values, stream));
    }
    if (!host.in_fp32) {
      EXPECT_TRUE(same(host.values, device.values, stream));
    }
  }
}

// The counters of cut rows are zero again after each product.
TYPED_TEST(SellOnDevice, MultipliesRaggedRowsAgainAndAgainAlsoUnderASanitizer) {
  for (const auto& [name, matrix] : ragged_shapes_in_both_precisions<TypeParam>()) {
    SCOPED_TRACE(name);
    test::DeviceProduct<TypeParam, TypeParam> product(build_ragged<TypeParam>, matrix);
    EXPECT_TRUE(test::matches_reference(product));
    EXPECT_TRUE(test::matches_reference(product));
    auto values = matrix.values;
    for (TypeParam& value : values) value = 1 / (3 + value);
    product.update_values(values);
    EXPECT_TRUE(test::matches_reference(product));
  }
}

TYPED_TEST(SellOnDevice, MultipliesSeveralVectorsByRaggedRows) {
  for (const auto pattern : {test::Pattern::strided, test::Pattern::scattered})
    for (const std::int64_t gap : {0, 1}) {
      test::DeviceVectors<TypeParam> product(
          build_ragged<TypeParam>, test::ragged<TypeParam>(250'033, 60'000, pattern), gap);
      for (const std::int64_t width : {1, 4, 7, 8}) test::expect_products(product, width);
    }
}

TYPED_TEST(SellOnDevice, MultipliesSquareRaggedRowsWithTheirDot) {
  for (const auto pattern : {test::Pattern::strided, test::Pattern::scattered}) {
    test::DeviceProduct<TypeParam, TypeParam> product(
        build_ragged<TypeParam>, test::ragged<TypeParam>(40'000, 40'000, pattern));
    EXPECT_TRUE(test::matches_reference(product));
    test::expect_dot(product);
  }
}

// Vectors that begin at a multiple of 16 bytes are multiplied by groups of four rows, others row by
// row.
TEST(SellGroups, HaveTheBitsOfRows) {
  if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
  select_device(0);
  const GenerateSpec spec{.kind = "poisson3d", .n = 128};
  const auto a = test::with_values_as<float>(generate(spec, 0, generator_shape(spec).rows).local);
  ASSERT_GE(a.rows, sell::tuning::kRowsOfGroups);
  const auto rows = static_cast<std::size_t>(a.rows);
  const Stream stream;
  const auto matrix = to_device(a.view(), stream);
  const auto kernel = build_sell_cuda<float>(matrix.view(), stream);
  test::Random random(3);
  Array<float> x(rows + 4), defect(rows);
  for (float& number : x) number = random.value<float>();
  for (float& number : defect) number = random.value<float>() / 1000;
  const auto defect_there = to_device(std::span<const float>(defect), stream);
  // y, and the sum of x.y last.
  const auto product = [&](std::size_t offset) {
    Array<float> moved(x.size());
    std::copy_n(x.begin(), rows, moved.begin() + static_cast<std::ptrdiff_t>(offset));
    const auto x_there = to_device(std::span<const float>(moved), stream);
    const DeviceBuffer<float> y(rows + 4, stream);
    const DeviceBuffer<double> partials(kernel->dot_partials(), stream);
    const DeviceSpan<const float> from{x_there.data() + offset, rows};
    const DeviceSpan<float> to{y.data() + offset, rows};
    kernel->multiply(from, to, Accumulate::no, stream);
    const Array<float> alone = to_host(DeviceSpan<const float>(to), stream);
    fill_nan(to, stream);
    kernel->multiply_and_dot(from, to, partials.span(), stream);
    const Array<float> with_dot = to_host(DeviceSpan<const float>(to), stream);
    EXPECT_EQ(alone, with_dot);
    double dot = 0;
    for (const double partial : to_host(partials.view(), stream)) dot += partial;
    return std::pair(with_dot, dot);
  };
  const auto compare = [&] {
    const auto [groups, dot] = product(0);
    for (const std::size_t offset : {1, 2, 3}) {
      const auto [by_rows, dot_by_rows] = product(offset);
      EXPECT_EQ(groups, by_rows);
      EXPECT_NEAR(dot, dot_by_rows, 1e-12 * std::abs(dot));
    }
  };
  compare();
  ASSERT_TRUE(kernel->add_diagonal(defect_there.view()));
  compare();
  Array<float> values = a.values;
  for (float& value : values) value *= 3;
  const auto values_there = to_device(std::span<const float>(values), stream);
  kernel->update_values(values_there.view(), stream);
  compare();
}

}  // namespace
}  // namespace trireme
