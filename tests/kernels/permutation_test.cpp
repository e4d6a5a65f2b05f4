// SPDX-License-Identifier: BSD-3-Clause
// Tests P A P^T on the device, the kernels that multiply it in their own row order, and the choice
// between the two orders. All tests except the first are skipped without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "kernels/permutation.hpp"
#include "kernels/permuted_kernel.hpp"
#include "kernels/registry.hpp"
#include "sparse/permuted.hpp"
#include "support/device_product.hpp"
#include "support/permuted_csr.hpp"
#include "support/square_shapes.hpp"

namespace trireme {
namespace {

using test::permuted_csr;
using test::permuted_vector;
using test::random_order;
using test::random_vector;
using test::same_bits;

Array<double> product(const CsrMatrix<double>& a, const Array<double>& x) {
  Array<double> y(a.rows, 0.0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      y[i] += a.values[k] * x[a.col_idx[k]];
  return y;
}

// A square matrix with empty, short, medium and long rows in random order and with unsorted
// columns.
CsrMatrix<double> mixed_matrix() {
  return test::matrix_with_row_lengths<double>(
      test::mixed_lengths({0, 1, 2, 3, 4, 5, 9, 17, 40, 130, 300, 2500}, 230), 12 * 230, 5,
      test::Columns::unsorted);
}

TEST(PermutationOracle, MultipliesPxToPy) {
  const CsrMatrix<double> a = mixed_matrix();
  const Array<std::int32_t> order = random_order(a.rows);
  const Array<double> x = random_vector<double>(a.cols);
  EXPECT_TRUE(same_bits(product(permuted_csr(a, order), permuted_vector(x, order)),
                        permuted_vector(product(a, x), order)));
}

TEST(PermutationOracle, IsPermutedSquareButForTheOrderInRows) {
  const CsrMatrix<double> a = mixed_matrix();
  const Array<std::int32_t> order = random_order(a.rows);
  const PermutedCsr sorted = permuted_square(a.view(), order);
  CsrMatrix<double> expected = permuted_csr(a, order);
  EXPECT_EQ(sorted.matrix.row_ptr, expected.row_ptr);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto begin = sorted.matrix.row_ptr[i], end = sorted.matrix.row_ptr[i + 1];
    std::vector<std::pair<std::int32_t, double>> entries;
    for (auto k = begin; k < end; ++k)
      entries.emplace_back(expected.col_idx[k], expected.values[k]);
    std::sort(entries.begin(), entries.end());
    for (auto k = begin; k < end; ++k) {
      ASSERT_EQ(sorted.matrix.col_idx[k], entries[k - begin].first);
      ASSERT_EQ(sorted.matrix.values[k], entries[k - begin].second);
      ASSERT_EQ(sorted.matrix.values[k], a.values[sorted.entries[k]]);
    }
  }
}

class Permutation : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
    stream.emplace();
  }
  DeviceBuffer<std::int32_t> on_device(const Array<std::int32_t>& numbers) {
    return to_device(std::span<const std::int32_t>(numbers), *stream);
  }
  DeviceBuffer<double> on_device(const Array<double>& numbers) {
    return to_device(std::span<const double>(numbers), *stream);
  }
  template <class T>
  Array<T> back(const DeviceBuffer<T>& buffer) {
    return to_host(buffer.view(), *stream);
  }
  Array<double> multiply(CudaKernel<double>& kernel, const Array<double>& x) {
    const DeviceBuffer<double> x_device = on_device(x), y(x.size(), *stream);
    fill_nan(y.span(), *stream);
    kernel.multiply(x_device.view(), y.span(), Accumulate::no, *stream);
    return back(y);
  }
  std::optional<Stream> stream;
};

TEST_F(Permutation, IsTheOraclesForEverySquareShape) {
  for (const auto& shape : test::contract_shapes<double>()) {
    if (shape.matrix.rows != shape.matrix.cols) continue;
    SCOPED_TRACE(shape.name);
    const auto order = random_order(shape.matrix.rows);
    const CsrMatrix<double> expected = permuted_csr(shape.matrix, order);
    const auto a = to_device(shape.matrix.view(), *stream);
    const auto order_device = on_device(order);
    const auto permuted = permuted_matrix(a.view(), order_device.view(), *stream);
    EXPECT_EQ(back(permuted.row_ptr), expected.row_ptr);
    EXPECT_EQ(back(permuted.col_idx), expected.col_idx);
    EXPECT_TRUE(same_bits(back(permuted.values), expected.values));
    fill_nan(permuted.values.span(), *stream);
    permute_values(a.row_ptr.view(), a.values.view(), order_device.view(), permuted.row_ptr.view(),
                   permuted.values.span(), *stream);
    EXPECT_TRUE(same_bits(back(permuted.values), expected.values)) << "values alone";
  }
}

TEST_F(Permutation, WithAscendingColumnsIsThatOfTheHost) {
  for (const auto& [name, matrix] : test::square_shapes()) {
    SCOPED_TRACE(name);
    const auto order = random_order(matrix.rows);
    const PermutedCsr expected = permuted_square(matrix.view(), order);
    const auto a = to_device(matrix.view(), *stream);
    const auto order_device = on_device(order);
    const SortedPermutedMatrix permuted =
        sorted_permuted_matrix(a.view(), order_device.view(), *stream);
    EXPECT_EQ(back(permuted.matrix.row_ptr), expected.matrix.row_ptr);
    EXPECT_EQ(back(permuted.matrix.col_idx), expected.matrix.col_idx);
    EXPECT_TRUE(same_bits(back(permuted.matrix.values), expected.matrix.values));
    EXPECT_EQ(back(permuted.entries), expected.entries);
  }
}

TEST_F(Permutation, OfAnOrderIsComposedWithIt) {
  const auto outer = random_order(5000, 4), inner = random_order(5000, 5);
  const auto outer_device = on_device(outer), inner_device = on_device(inner);
  const DeviceBuffer<std::int32_t> composed(outer.size(), *stream);
  compose(outer_device.view(), inner_device.view(), composed.span(), *stream);
  const auto x = random_vector<double>(5000);
  EXPECT_TRUE(same_bits(permuted_vector(x, back(composed)),
                        permuted_vector(permuted_vector(x, outer), inner)));
}

TEST_F(Permutation, VectorsComeBackAsTheyWent) {
  const auto order = random_order(10'000);
  const auto x = random_vector<double>(10'000);
  const auto order_device = on_device(order);
  const auto x_device = on_device(x);
  const DeviceBuffer<double> there(x.size(), *stream), again(x.size(), *stream);
  permute(x_device.view(), order_device.view(), there.span(), *stream);
  EXPECT_TRUE(same_bits(back(there), permuted_vector(x, order)));
  permute_back(there.view(), order_device.view(), again.span(), *stream);
  EXPECT_TRUE(same_bits(back(again), x));
}

TEST_F(Permutation, BreaksAreRowsThatDoNotFollowTheirPredecessor) {
  const auto breaks = [&](const Array<std::int32_t>& order) {
    return breaks_in(on_device(order).view(), *stream);
  };
  EXPECT_EQ(breaks({}), 0);
  EXPECT_EQ(breaks({0, 1, 2, 3}), 0);
  EXPECT_EQ(breaks({2, 3, 0, 1}), 2);
  EXPECT_EQ(breaks({3, 2, 1, 0}), 4);
}

// Every kernel with a row order of its own gives the same bits for P A P^T, whose rows are in that
// order.
TEST_F(Permutation, KernelsGiveTheSameBitsInTheirOwnOrder) {
  int with_order = 0;
  for (const KernelEntry& entry : kernel_registry())
    for (const CudaBuilder<double> build : {entry.cuda_double, entry.cuda_mixed})
      for (const CsrMatrix<double>& a : {mixed_matrix(), test::contract_shape<double>("AllMixed"),
                                         test::contract_shape<double>("EveryLengthTo600")}) {
        if (!build || a.rows != a.cols) continue;
        SCOPED_TRACE(std::string(entry.name) + ", rows " + std::to_string(a.rows));
        const auto a_device = to_device(a.view(), *stream);
        const auto kernel = build(a_device.view(), *stream);
        DeviceBuffer<std::int32_t> order_device = kernel->row_order(*stream);
        if (order_device.empty()) continue;
        ++with_order;
        const auto order = back(order_device);
        auto sorted = order;
        std::sort(sorted.begin(), sorted.end());
        for (std::int64_t i = 0; i < a.rows; ++i) ASSERT_EQ(sorted[i], i) << "each row once";
        PermutedKernel permuted(*kernel, a_device.view(), std::move(order_device), *stream);
        const auto x = random_vector<double>(a.cols);
        EXPECT_TRUE(same_bits(multiply(permuted.kernel(), permuted_vector(x, order)),
                              permuted_vector(multiply(*kernel, x), order)));
        const auto again = permuted.kernel().row_order(*stream);
        EXPECT_EQ(breaks_in(again.view(), *stream), 0) << "rows are written out of order";

        const auto values = on_device(random_vector<double>(a.nnz(), 91));
        kernel->update_values(values.view(), *stream);
        permuted.update_values(values.view(), *stream);
        EXPECT_TRUE(same_bits(multiply(permuted.kernel(), permuted_vector(x, order)),
                              permuted_vector(multiply(*kernel, x), order)))
            << "new values";
      }
  EXPECT_GE(with_order, 4) << "dasp and teb";
}

// Repeats each product `times` times to appear slower. Its row order is the reverse of the
// caller's; in that order it repeats each product `times_permuted` times.
class Repeating final : public CudaKernel<double> {
 public:
  Repeating(const DeviceCsr<double>& a, int times, int times_permuted, StreamRef stream)
      : kernel_(build_cuda_kernel<double>("csr-vector", a, stream)),
        rows_(a.rows),
        times_(times),
        times_permuted_(times_permuted) {}
  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, Accumulate accumulate,
                StreamRef stream) override {
    for (int time = 0; time < times_; ++time) kernel_->multiply(x, y, accumulate, stream);
  }
  void update_values(DeviceSpan<const double>, StreamRef) override {}
  KernelStatistics statistics() const override { return {}; }
  DeviceBuffer<std::int32_t> row_order(StreamRef stream) const override {
    Array<std::int32_t> order(rows_);
    for (std::int64_t i = 0; i < rows_; ++i) order[i] = static_cast<std::int32_t>(rows_ - 1 - i);
    auto on_device = to_device(std::span<const std::int32_t>(order), stream);
    synchronize(stream);
    return on_device;
  }
  // The inner kernel reads the matrix while it multiplies, which a kernel with its own row order
  // may not do. This object therefore owns a copy of the matrix.
  std::unique_ptr<CudaKernel<double>> in_row_order(const DeviceCsr<double>& permuted,
                                                   StreamRef stream) const override {
    DeviceCsrMatrix<double> copy{permuted.rows, permuted.cols,
                                 DeviceBuffer<std::int32_t>(permuted.rows + 1, stream),
                                 DeviceBuffer<std::int32_t>(permuted.nnz, stream),
                                 DeviceBuffer<double>(permuted.nnz, stream)};
    copy_on_device(permuted.row_ptr, copy.row_ptr.span(), stream);
    copy_on_device(permuted.col_idx, copy.col_idx.span(), stream);
    copy_on_device(permuted.values, copy.values.span(), stream);
    auto kernel = std::make_unique<Repeating>(copy.view(), times_permuted_, 1, stream);
    kernel->copy_ = std::move(copy);
    return kernel;
  }

 private:
  DeviceCsrMatrix<double> copy_;
  std::unique_ptr<CudaKernel<double>> kernel_;
  std::int64_t rows_;
  int times_, times_permuted_;
};

class PermutationChoice : public Permutation {
 protected:
  PermutationTrial trial(int times, int times_permuted, std::int64_t products,
                         const PermutationRule& by) {
    const auto a = to_device(mixed_matrix().view(), *stream);
    Repeating kernel(a.view(), times, times_permuted, *stream);
    return try_permuted(kernel, a.view(), products, by, *stream);
  }
  PermutationRule rule{.min_nonzeros = 1000};
};

TEST_F(PermutationChoice, TakesTheKernelsOrderWhereItIsFaster) {
  const PermutationTrial faster = trial(4, 1, 1000, rule);
  EXPECT_NE(faster.winner, nullptr);
  EXPECT_GT(faster.gain(), 0.3);
  EXPECT_GT(faster.seconds, 0);
}

TEST_F(PermutationChoice, KeepsTheCallersOrderWhereThatIsFaster) {
  const PermutationTrial slower = trial(1, 4, 1000, rule);
  EXPECT_EQ(slower.winner, nullptr);
  EXPECT_LT(slower.gain(), 0);
  rule.min_gain = 0.99;
  EXPECT_EQ(trial(4, 1, 1000, rule).winner, nullptr) << "a gain that does not pay";
}

TEST_F(PermutationChoice, DoesNotTryWhatCannotPay) {
  EXPECT_EQ(trial(4, 1, rule.min_products - 1, rule).callers_us, 0) << "few products";
  PermutationRule strict = rule;
  strict.min_nonzeros = 100'000'000;
  EXPECT_EQ(trial(4, 1, 1000, strict).callers_us, 0) << "a small matrix";
  strict = rule;
  strict.min_breaks = 1.1;
  EXPECT_EQ(trial(4, 1, 1000, strict).callers_us, 0) << "rows in order";
  const auto a = to_device(mixed_matrix().view(), *stream);
  const auto without = build_cuda_kernel<double>("csr-vector", a.view(), *stream);
  EXPECT_EQ(try_permuted(*without, a.view(), 1000, rule, *stream).callers_us, 0);
}

}  // namespace
}  // namespace trireme
