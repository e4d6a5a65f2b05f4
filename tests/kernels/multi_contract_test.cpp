// SPDX-License-Identifier: BSD-3-Clause
// Tests the product with several vectors on every host kernel of the registry: each vector of the
// result is judged by the independent reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "kernels/fp64_sums.hpp"
#include "kernels/kernel_names.hpp"
#include "kernels/multi_product.hpp"
#include "kernels/registry.hpp"
#include "support/host_product.hpp"
#include "support/refusal.hpp"
#include "support/same_bits.hpp"
#include "support/shapes.hpp"
#include "support/watched.hpp"
#include "support/with_threads.hpp"

namespace trireme {
namespace {

enum class Layout { side_by_side, one_after_the_other, with_gaps };

// Vectors in one of the layouts, and the memory that holds them.
template <class Value>
struct Vectors {
  Array<Value> memory;
  MultiVector<Value> view;
};

template <class Value>
Vectors<Value> vectors_of(Layout layout, std::int64_t rows, std::int64_t width) {
  const std::int64_t gap = layout == Layout::with_gaps ? 3 : 0;
  Vectors<Value> made;
  made.memory = test::poisoned_vector<Value>((rows + gap) * (width + gap));
  Value* data = made.memory.data();
  made.view = layout == Layout::one_after_the_other ? one_after_the_other(data, rows, width)
                                                    : side_by_side(data, rows, width + gap);
  made.view.width = width;
  return made;
}

template <class Value>
Array<Value> column(MultiVector<const Value> v, std::int64_t j) {
  Array<Value> values(v.rows);
  for (std::int64_t i = 0; i < v.rows; ++i) values[i] = v(i, j);
  return values;
}

template <class Value>
void fill(MultiVector<Value> v, std::uint64_t seed) {
  test::Random random(seed);
  for (std::int64_t j = 0; j < v.width; ++j)
    for (std::int64_t i = 0; i < v.rows; ++i) v(i, j) = random.value<Value>();
}

// The vectors of a block that are compared with the reference, which takes most of the time: all of
// a narrow block. Kernels take vectors in groups, of at most 32.
std::vector<std::int64_t> judged(std::int64_t width) {
  if (width > 2 && test::watched()) return {0, width - 1};
  if (width > 9) return {0, 1, 7, 8, width / 2, width - 2, width - 1};
  std::vector<std::int64_t> numbers;
  for (std::int64_t j = 0; j < width; ++j) numbers.push_back(j);
  return numbers;
}

template <class Value>
void expect_products(HostKernel<Value>& kernel, const CsrView<Value>& a, std::int64_t width,
                     Layout layout, const std::string& name) {
  [[maybe_unused]] const int shares = test::roundings_of_shares(name);
  MultiProduct<Value> product(kernel, a.rows, a.cols);
  const Vectors<Value> x = vectors_of<Value>(layout, a.cols, width);
  const Vectors<Value> y = vectors_of<Value>(layout, a.rows, width);
  fill(x.view, 5);
  product.multiply(x.view, y.view, Accumulate::no);
  for (const std::int64_t j : judged(width))
    EXPECT_TRUE(test::judge(
        compare_product<Value>(a, column<Value>(x.view, j), column<Value>(y.view, j)), "Y = A X"))
        << "vector " << j;
  if constexpr (std::is_same_v<Value, float>) {
    for (const std::int64_t j : judged(width))
      EXPECT_TRUE(
          test::sums_in_fp64(a, column<Value>(x.view, j), column<Value>(y.view, j), {}, shares));
  }

  fill(y.view, 6);
  const Vectors<Value> before = vectors_of<Value>(layout, a.rows, width);
  fill(before.view, 6);
  product.multiply(x.view, y.view, Accumulate::yes);
  for (const std::int64_t j : judged(width))
    EXPECT_TRUE(
        test::judge(compare_product<Value>(a, column<Value>(x.view, j), column<Value>(y.view, j),
                                           column<Value>(before.view, j)),
                    "Y += A X"))
        << "vector " << j;
  if constexpr (std::is_same_v<Value, float>) {
    for (const std::int64_t j : judged(width))
      EXPECT_TRUE(test::sums_in_fp64(a, column<Value>(x.view, j), column<Value>(y.view, j),
                                     column<Value>(before.view, j), shares));
  }
}

class MultiContract : public testing::TestWithParam<std::string> {
 protected:
  template <class Check>
  void for_each_value_type(Check&& check) {
    const KernelEntry& entry = find_kernel(GetParam());
    if (entry.host<double>()) check.template operator()<double>();
    if (entry.host<float>()) check.template operator()<float>();
    if (entry.host<std::int32_t>()) check.template operator()<std::int32_t>();
  }
};

TEST_P(MultiContract, MatchesReferenceForEveryWidth) {
  for_each_value_type([&]<class Value>() {
    for (const std::string name : {"AllMixed", "OneDenseRow"}) {
      const auto a = test::contract_shape<Value>(name);
      const auto kernel = test::build_or_refuse<Value>(GetParam(), a.view());
      if (!kernel) continue;
      for (const std::int64_t width : {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 100}) {
        if (test::watched() && width > 33) continue;
        SCOPED_TRACE(name + ", " + std::to_string(width) + " vectors");
        expect_products(*kernel, a.view(), width, Layout::side_by_side, GetParam());
      }
    }
  });
}

TEST_P(MultiContract, MatchesReferenceOnEveryShapeAndLayout) {
  for_each_value_type([&]<class Value>() {
    std::size_t number = 0;
    for (const auto& [name, a] : test::contract_shapes<Value>()) {
      SCOPED_TRACE(name);
      ++number;
      const auto kernel = test::build_or_refuse<Value>(GetParam(), a.view());
      if (!kernel) continue;
      const Layout layouts[] = {Layout::side_by_side, Layout::one_after_the_other,
                                Layout::with_gaps};
      for (std::size_t k = 0; k < 3; ++k)
        if (!test::watched() || number % 3 == k)
          expect_products(*kernel, a.view(), 9, layouts[k], GetParam());
    }
  });
}

TEST_P(MultiContract, RefusesVectorsThatShareMemoryAndSizesThatDisagree) {
  const auto a = test::contract_shape<double>("AllMixed");
  const auto kernel = build_host_kernel<double>(GetParam(), a.view());
  MultiProduct<double> product(*kernel, a.rows, a.cols);
  Array<double> memory(3 * (a.rows + a.cols));
  double* const end_of_x = memory.data() + 3 * a.cols;
  const auto x = side_by_side(memory.data(), a.cols, 3);
  const auto refuses = [&](MultiVector<double> from, MultiVector<double> to) {
    EXPECT_THROW(product.multiply(from, to, Accumulate::no), Error);
  };
  EXPECT_NO_THROW(product.multiply(x, side_by_side(end_of_x, a.rows, 3), Accumulate::no));
  refuses(x, side_by_side(end_of_x - 1, a.rows, 3));
  refuses(x, side_by_side(end_of_x, a.rows, 2));
  refuses(x, side_by_side(end_of_x, a.rows - 1, 3));
  refuses(side_by_side(memory.data(), a.cols - 1, 3), side_by_side(end_of_x, a.rows, 3));
}

// Y = A X for random vectors side by side.
template <class Value>
Array<Value> product_of(HostKernel<Value>& kernel, const CsrView<Value>& a, std::int64_t width) {
  const Vectors<Value> x = vectors_of<Value>(Layout::side_by_side, a.cols, width);
  const Vectors<Value> y = vectors_of<Value>(Layout::side_by_side, a.rows, width);
  fill(x.view, 5);
  MultiProduct<Value>(kernel, a.rows, a.cols).multiply(x.view, y.view, Accumulate::no);
  return y.memory;
}

TEST_P(MultiContract, GivesTheSameBitsWithAsManyThreadsAsTheRegistrySays) {
  const KernelEntry& entry = find_kernel(GetParam());
  if (!entry.deterministic) GTEST_SKIP() << "registered as not deterministic";
  const auto a = test::contract_shape<double>("AllMixed");
  const auto product = [&](int threads) {
    const test::WithThreads with(threads);
    const auto kernel = build_host_kernel<double>(GetParam(), a.view());
    return product_of<double>(*kernel, a.view(), 37);
  };
  const Array<double> of_one = product(1);
  for (const int threads : {1, 2, 3, 7}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    const Array<double> first = product(threads);
    EXPECT_TRUE(test::same_bits(first, product(threads)));
    EXPECT_TRUE(entry.host_bits_follow_threads || test::same_bits(first, of_one));
  }
}

TEST_P(MultiContract, MatchesReferenceOnAnotherThreadCountThanItWasBuiltFor) {
  for_each_value_type([&]<class Value>() {
    for (const std::string name : {"AllMixed", "OneDenseRow"}) {
      SCOPED_TRACE(name);
      const auto a = test::contract_shape<Value>(name);
      const test::WithThreads building(1);
      const auto kernel = test::build_or_refuse<Value>(GetParam(), a.view());
      if (!kernel) continue;
      const test::WithThreads multiplying(3);
      expect_products(*kernel, a.view(), 9, Layout::side_by_side, GetParam());
    }
  });
}

TEST_P(MultiContract, TakesNewValuesOnTheSamePattern) {
  for_each_value_type([&]<class Value>() {
    for (const std::string name : {"AllMixed", "OneDenseRow", "AllRowsEmpty"}) {
      SCOPED_TRACE(name);
      const auto a = test::contract_shape<Value>(name);
      const auto kernel = test::build_or_refuse<Value>(GetParam(), a.view());
      if (!kernel) continue;
      auto updated = a;
      updated.values = test::random_vector<Value>(a.nnz(), 99);
      kernel->update_values(updated.values);
      expect_products(*kernel, updated.view(), 9, Layout::side_by_side, GetParam());
    }
  });
}

TEST_P(MultiContract, TakesMoreVectorsThanTheMatrixHasRows) {
  for_each_value_type([&]<class Value>() {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 40}, {3, 5}, {7, 2}}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
      const auto a = test::matrix_with_row_lengths<Value>(
          std::vector<std::int64_t>(rows, std::min(cols, 3)), cols);
      const auto kernel = build_host_kernel<Value>(GetParam(), a.view());
      for (const std::int64_t width : {8, 64, 100})
        expect_products(*kernel, a.view(), width, Layout::with_gaps, GetParam());
    }
  });
}

// Y = A X with the dot products of chunks of rows.
struct WithDots {
  bool done = false;
  Array<double> x, y, dots;
};

WithDots product_with_dots(HostKernel<double>& kernel, const CsrView<double>& a, std::int64_t width,
                           std::int64_t chunk_rows) {
  WithDots p{.x = test::random_vector<double>(a.cols * width),
             .y = test::poisoned_vector<double>(a.rows * width),
             .dots = test::poisoned_vector<double>((a.rows + chunk_rows - 1) / chunk_rows * width)};
  p.done =
      MultiProduct<double>(kernel, a.rows, a.cols)
          .multiply_and_dot(side_by_side(std::as_const(p.x).data(), a.cols, width),
                            side_by_side(p.y.data(), a.rows, width), chunk_rows, p.dots.data());
  return p;
}

// The dot products of each chunk, summed row after row from X and Y.
Array<double> dots_of(const WithDots& p, std::int64_t rows, std::int64_t width,
                      std::int64_t chunk_rows) {
  Array<double> dots(p.dots.size(), 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j)
      dots[i / chunk_rows * width + j] += p.x[i * width + j] * p.y[i * width + j];
  return dots;
}

TEST_P(MultiContract, SumsDotProductsRowAfterRowWhereItHasThem) {
  constexpr std::int64_t rows = 1003, chunk_rows = 64;
  std::vector<std::int64_t> lengths(rows, 5);
  for (std::size_t i = 0; i < lengths.size(); i += 7) lengths[i] = static_cast<std::int64_t>(i % 5);
  const auto a = test::matrix_with_row_lengths<double>(lengths, rows);
  for (const std::int64_t width : {1, 9, 33}) {
    Array<double> of_one;
    for (const int threads : {1, 2, 3, 20}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(width) + " vectors");
      const test::WithThreads with(threads);
      const auto kernel = build_host_kernel<double>(GetParam(), a.view());
      const bool has = dynamic_cast<const RowProduct<double>*>(kernel.get()) != nullptr;
      WithDots p = product_with_dots(*kernel, a.view(), width, chunk_rows);
      ASSERT_EQ(p.done, has);
      EXPECT_TRUE(test::same_bits(p.dots, has ? dots_of(p, rows, width, chunk_rows)
                                              : test::poisoned_vector<double>(std::ssize(p.dots))));
      if (!has) continue;
      const auto x = side_by_side(std::as_const(p.x).data(), rows, width);
      const auto y = side_by_side(std::as_const(p.y).data(), rows, width);
      for (std::int64_t j = 0; j < width; ++j)
        EXPECT_TRUE(test::judge(
            compare_product<double>(a.view(), column<double>(x, j), column<double>(y, j)),
            "Y = A X"))
            << "vector " << j;
      if (of_one.empty()) of_one = p.y;
      EXPECT_TRUE(test::same_bits(p.y, of_one));
    }
  }
}

TEST_P(MultiContract, HasNoDotProductsWhereAChunkHasManyOfTheNonzeros) {
  std::vector<std::int64_t> lengths(1000, 1);
  lengths[500] = 1000;
  const auto a = test::matrix_with_row_lengths<double>(lengths, 1000);
  const auto kernel = test::build_or_refuse<double>(GetParam(), a.view());
  if (!kernel) GTEST_SKIP() << "the kernel refuses the matrix";
  const WithDots p = product_with_dots(*kernel, a.view(), 4, 64);
  EXPECT_FALSE(p.done);
  EXPECT_TRUE(test::same_bits(p.y, test::poisoned_vector<double>(std::ssize(p.y))));
}

// With NaN between the vectors of X, each result is finite; the memory between the results stays.
TEST_P(MultiContract, ReadsAndWritesNothingBetweenTheVectors) {
  const auto a = test::contract_shape<double>("AllMixed");
  const auto kernel = build_host_kernel<double>(GetParam(), a.view());
  for (const std::int64_t width : {1, 5, 8, 33}) {
    SCOPED_TRACE(std::to_string(width) + " vectors");
    const Vectors<double> x = vectors_of<double>(Layout::with_gaps, a.cols, width);
    Vectors<double> y = vectors_of<double>(Layout::with_gaps, a.rows, width);
    fill(x.view, 5);
    const Array<double> before = y.memory;
    MultiProduct<double>(*kernel, a.rows, a.cols).multiply(x.view, y.view, Accumulate::no);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        EXPECT_TRUE(std::isfinite(y.view(i, j))) << i << ", " << j;
        y.view(i, j) = before[i * y.view.row_stride + j];
      }
    EXPECT_TRUE(test::same_bits(y.memory, before));
  }
}

TEST_P(MultiContract, ANanInOneVectorReachesOnlyThatVectorAndTheRowsWithItsColumn) {
  const auto a = test::contract_shape<double>("AllMixed");
  const auto kernel = build_host_kernel<double>(GetParam(), a.view());
  MultiProduct<double> product(*kernel, a.rows, a.cols);
  constexpr std::int64_t kWidth = 11, kBadColumn = 1503;
  const Vectors<double> x = vectors_of<double>(Layout::side_by_side, a.cols, kWidth);
  const Vectors<double> clean = vectors_of<double>(Layout::side_by_side, a.rows, kWidth);
  const Vectors<double> y = vectors_of<double>(Layout::side_by_side, a.rows, kWidth);
  fill(x.view, 5);
  product.multiply(x.view, clean.view, Accumulate::no);
  for (const std::int64_t bad : {0, 3, 10}) {
    SCOPED_TRACE("vector " + std::to_string(bad));
    const double before = x.view(kBadColumn, bad);
    x.view(kBadColumn, bad) = std::numeric_limits<double>::quiet_NaN();
    product.multiply(x.view, y.view, Accumulate::no);
    x.view(kBadColumn, bad) = before;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      const auto first = a.col_idx.begin() + a.row_ptr[i],
                 last = a.col_idx.begin() + a.row_ptr[i + 1];
      const bool has_column = std::find(first, last, kBadColumn) != last;
      for (std::int64_t j = 0; j < kWidth; ++j) {
        if (j == bad && has_column) {
          EXPECT_TRUE(std::isnan(y.view(i, j))) << i;
        } else {
          EXPECT_EQ(y.view(i, j), clean.view(i, j)) << i << ", " << j;
        }
      }
    }
  }
}

TEST_P(MultiContract, MultipliesVectorsThatAreZeroAndVectorsThatAreEqual) {
  for_each_value_type([&]<class Value>() {
    const auto a = test::contract_shape<Value>("AllMixed");
    const auto kernel = build_host_kernel<Value>(GetParam(), a.view());
    constexpr std::int64_t kWidth = 19, kZero = 4;
    const Vectors<Value> x = vectors_of<Value>(Layout::side_by_side, a.cols, kWidth);
    const Vectors<Value> y = vectors_of<Value>(Layout::side_by_side, a.rows, kWidth);
    const Array<Value> same = test::random_vector<Value>(a.cols, 8);
    for (std::int64_t i = 0; i < a.cols; ++i)
      for (std::int64_t j = 0; j < kWidth; ++j) x.view(i, j) = j == kZero ? Value{} : same[i];
    MultiProduct<Value>(*kernel, a.rows, a.cols).multiply(x.view, y.view, Accumulate::no);
    for (std::int64_t j = 0; j < kWidth; ++j)
      EXPECT_TRUE(test::judge(
          compare_product<Value>(a.view(), column<Value>(x.view, j), column<Value>(y.view, j)),
          "Y = A X"))
          << "vector " << j;
    for (std::int64_t i = 0; i < a.rows; ++i) EXPECT_EQ(y.view(i, kZero), Value{}) << i;
  });
}

std::vector<std::string> kernels_in_double() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_double) names.emplace_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Kernels, MultiContract, testing::ValuesIn(kernels_in_double()),
                         test::name_of_test);

}  // namespace
}  // namespace trireme
