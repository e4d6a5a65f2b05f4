// SPDX-License-Identifier: BSD-3-Clause
// The blocks of rows of a matrix in GPU memory, and what their kernels are given. No test needs a
// GPU: the addresses are those of the host, or of no memory at all.
#include "kernels/blocked_cuda_kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cut_matrix.hpp"
#include "kernels/row_block_dot.hpp"
#include "sparse/reference.hpp"
#include "sparse/row_blocks.hpp"
#include "support/random.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using Csr = DeviceCsr<double>;

// Multiplies host memory that passes for device memory.
class KernelInHostMemory : public CudaKernel<double> {
 public:
  explicit KernelInHostMemory(const Csr& a, bool multiplies_vectors = true)
      : a_(a), multiplies_vectors_(multiplies_vectors) {}

  void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, Accumulate accumulate,
                StreamRef) override {
    EXPECT_EQ(static_cast<std::int64_t>(x.size()), a_.cols);
    EXPECT_EQ(static_cast<std::int64_t>(y.size()), a_.rows);
    multi_multiply({x.data(), a_.cols, 1}, {y.data(), a_.rows, 1}, accumulate, nullptr);
  }
  void update_values(DeviceSpan<const double> values, StreamRef) override {
    EXPECT_EQ(static_cast<std::int64_t>(values.size()), a_.nnz);
    a_.values = values;
  }
  KernelStatistics statistics() const override {
    return {.stored_bytes = 12 * a_.nnz,
            .padding_ratio = static_cast<double>(a_.rows),
            .steps = {{"order", 1}, {"fill", static_cast<double>(a_.rows)}}};
  }
  bool multiplies_vectors() const override { return multiplies_vectors_; }
  void multi_multiply(DeviceMultiVector<const double> x, DeviceMultiVector<double> y,
                      Accumulate accumulate, StreamRef) override {
    EXPECT_EQ(y.rows, a_.rows);
    EXPECT_EQ(y.width, x.width);
    for (std::int64_t row = 0; row < a_.rows; ++row)
      for (std::int64_t j = 0; j < x.width; ++j) {
        double& sum = y.data[row * y.row_stride + j];
        if (accumulate == Accumulate::no) sum = 0;
        for (std::int32_t k = a_.row_ptr.data()[row]; k < a_.row_ptr.data()[row + 1]; ++k)
          sum += a_.values.data()[k] * x.data[a_.col_idx.data()[k] * x.row_stride + j];
      }
  }

 private:
  Csr a_;
  bool multiplies_vectors_;
};

// Also sums the dot product, in as many numbers as its block has rows, and one more.
class DotInHostMemory final : public KernelInHostMemory, public RowBlockDot<double> {
 public:
  explicit DotInHostMemory(const Csr& a) : KernelInHostMemory(a), rows_(a.rows) {}
  std::size_t block_dot_partials() const override { return static_cast<std::size_t>(rows_ + 1); }
  void multiply_block_and_dot(DeviceSpan<const double> x, DeviceSpan<const double> x_of_rows,
                              DeviceSpan<double> y, DeviceSpan<double> partials,
                              StreamRef stream) override {
    EXPECT_EQ(static_cast<std::int64_t>(x_of_rows.size()), rows_);
    EXPECT_EQ(static_cast<std::int64_t>(partials.size()), rows_ + 1);
    multiply(x, y, Accumulate::no, stream);
    for (std::int64_t i = 0; i < rows_; ++i) partials.data()[i] = x_of_rows.data()[i] * y.data()[i];
    partials.data()[rows_] = 0;
  }

 private:
  std::int64_t rows_;
};

template <class T>
DeviceSpan<const T> span_of(const Array<T>& array) {
  return {array.data(), array.size()};
}

std::vector<DeviceRowBlock<double>> blocks_of(const CsrMatrix<double>& a) {
  return row_blocks<double>(
      {a.rows, a.cols, a.nnz(), span_of(a.row_ptr), span_of(a.col_idx), span_of(a.values)},
      later_blocks(a));
}

std::unique_ptr<CudaKernel<double>> kernel_for(const CsrMatrix<double>& a) {
  return build_by_blocks<double>(
      blocks_of(a), [](const Csr& csr) { return std::make_unique<KernelInHostMemory>(csr); });
}

using test::CutMatrix;

// Several blocks, one of which has no entries; one dense row; one row per block.
std::vector<CutMatrix> cut_matrices() {
  std::vector<CutMatrix> all;
  const auto add = [&](const std::string& name, CsrMatrix<double> a, std::int64_t most) {
    CsrMatrix<double> cut = a;
    cut_again(cut, most);
    all.push_back({name, std::move(a), std::move(cut)});
  };
  add("OneDenseRow", test::contract_shape<double>("OneDenseRow"),
      test::contract_shape<double>("OneDenseRow").cols);
  add("OneRowPerBlock", test::matrix_with_row_lengths<double>({4, 4, 4, 4, 4}, 9), 4);
  add("SomeRowsEmpty", test::contract_shape<double>("SomeRowsEmpty"), 40);
  add("AllMixed", test::contract_shape<double>("AllMixed"), 3000);
  all.push_back(test::block_without_entries());
  return all;
}

TEST(DeviceRowBlocks, AreThoseOfTheMatrixOnTheHost) {
  for (const CutMatrix& matrix : cut_matrices()) {
    SCOPED_TRACE(matrix.name);
    const CsrMatrix<double>& a = matrix.cut;
    const std::vector<RowBlock<double>> expected = a.blocks();
    const std::vector<DeviceRowBlock<double>> found = blocks_of(a);
    ASSERT_GE(found.size(), 2u);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      const CsrView<double>& here = expected[k].csr;
      EXPECT_EQ(found[k].first_row, expected[k].first_row);
      EXPECT_EQ(found[k].first_entry, expected[k].first_entry);
      EXPECT_EQ(found[k].csr.rows, here.rows);
      EXPECT_EQ(found[k].csr.cols, a.cols);
      EXPECT_EQ(found[k].csr.nnz, here.nnz());
      EXPECT_EQ(found[k].csr.row_ptr.data(), here.row_ptr.data());
      EXPECT_EQ(found[k].csr.row_ptr.size(), here.row_ptr.size());
      EXPECT_EQ(found[k].csr.col_idx.data(), here.col_idx.data());
      EXPECT_EQ(found[k].csr.col_idx.size(), here.col_idx.size());
      EXPECT_EQ(found[k].csr.values.data(), here.values.data());
      EXPECT_EQ(found[k].csr.values.size(), here.values.size());
    }
  }
}

// The addresses of arrays that nobody allocates: three blocks, the last of which begins beyond 2^32
// entries and 2^31 bytes of offsets.
TEST(DeviceRowBlocks, BeginBeyondTwoToTheThirtyTwoEntries) {
  constexpr std::int64_t kRows = 850LL * 850 * 850, kFirst = 306'000'000, kSecond = 613'000'000;
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<double*>(address); };
  const auto* row_ptr = reinterpret_cast<const std::int32_t*>(std::uintptr_t{1} << 40);
  const auto* col_idx = reinterpret_cast<const std::int32_t*>(std::uintptr_t{1} << 41);
  const double* values = at(std::uintptr_t{1} << 42);
  const Csr all{
      kRows, kRows, 7 * kRows, {row_ptr, kRows + 3}, {col_idx, 7 * kRows}, {values, 7 * kRows}};
  const BlockBegin later[] = {{kFirst, 7 * kFirst}, {kSecond, 7 * kSecond}};
  const auto blocks = row_blocks<double>(all, later);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[1].first_entry, 2'142'000'000);
  EXPECT_EQ(blocks[1].csr.nnz, 2'149'000'000);
  EXPECT_EQ(blocks[2].first_entry, 4'291'000'000);
  EXPECT_EQ(blocks[2].csr.rows, kRows - kSecond);
  EXPECT_EQ(blocks[2].csr.nnz, 7 * (kRows - kSecond));
  EXPECT_EQ(blocks[2].csr.row_ptr.data() - row_ptr, kSecond + 2);
  EXPECT_EQ(blocks[2].csr.col_idx.data() - col_idx, 7 * kSecond);
  EXPECT_EQ(blocks[2].csr.values.data() - values, 7 * kSecond);

  // What the kernels of these blocks are given.
  struct Recorder final : CudaKernel<double> {
    explicit Recorder(std::vector<std::int64_t>& all) : places(all) {}
    void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, Accumulate,
                  StreamRef) override {
      places.insert(places.end(), {y.data() - x.data(), static_cast<std::int64_t>(y.size())});
    }
    void update_values(DeviceSpan<const double> given, StreamRef) override {
      places.insert(places.end(), {given.data() - static_cast<const double*>(nullptr),
                                   static_cast<std::int64_t>(given.size())});
    }
    void multi_multiply(DeviceMultiVector<const double> x, DeviceMultiVector<double> y, Accumulate,
                        StreamRef) override {
      places.insert(places.end(), {y.data - x.data, y.rows});
    }
    KernelStatistics statistics() const override { return {}; }
    std::vector<std::int64_t>& places;
  };
  std::vector<std::int64_t> places;
  const auto kernel = build_by_blocks<double>(
      blocks, [&](const Csr&) { return std::make_unique<Recorder>(places); });
  kernel->multiply({values, kRows}, {at(std::uintptr_t{1} << 42), kRows}, Accumulate::no, nullptr);
  using Places = std::vector<std::int64_t>;
  EXPECT_EQ(std::exchange(places, {}),
            (Places{0, kFirst, kFirst, kSecond - kFirst, kSecond, kRows - kSecond}));
  kernel->update_values({static_cast<const double*>(nullptr), 7 * kRows}, nullptr);
  EXPECT_EQ(std::exchange(places, {}), (Places{0, 7 * kFirst, 7 * kFirst, 7 * (kSecond - kFirst),
                                               7 * kSecond, 7 * (kRows - kSecond)}));
  kernel->multi_multiply({values, kRows, 8, 8}, {at(std::uintptr_t{1} << 42), kRows, 8, 8},
                         Accumulate::no, nullptr);
  EXPECT_EQ(places,
            (Places{0, kFirst, 8 * kFirst, kSecond - kFirst, 8 * kSecond, kRows - kSecond}));
}

TEST(BlockedCudaKernel, MultipliesByAllBlocksAndTakesNewValues) {
  for (const CutMatrix& matrix : cut_matrices()) {
    SCOPED_TRACE(matrix.name);
    const auto kernel = kernel_for(matrix.cut);
    CsrMatrix<double> whole = matrix.whole;
    const auto x = test::random_vector<double>(whole.cols, 4);
    for (const std::uint64_t seed : {0, 99}) {
      if (seed > 0) {
        whole.values = test::random_vector<double>(whole.nnz(), seed);
        kernel->update_values(span_of(whole.values), nullptr);
      }
      Array<double> y = test::poisoned_vector<double>(whole.rows);
      kernel->multiply(span_of(x), {y.data(), y.size()}, Accumulate::no, nullptr);
      EXPECT_TRUE(compare_product<double>(whole.view(), x, y).within_bound());
      const auto before = test::random_vector<double>(whole.rows, 6);
      y = before;
      kernel->multiply(span_of(x), {y.data(), y.size()}, Accumulate::yes, nullptr);
      EXPECT_TRUE(compare_product<double>(whole.view(), x, y, before).within_bound());
    }
  }
}

TEST(BlockedCudaKernel, MultipliesSeveralVectorsInWiderRows) {
  constexpr std::int64_t kWidth = 3, kStride = 5;
  for (const CutMatrix& matrix : cut_matrices()) {
    SCOPED_TRACE(matrix.name);
    const CsrMatrix<double>& a = matrix.whole;
    const auto kernel = kernel_for(matrix.cut);
    ASSERT_TRUE(kernel->multiplies_vectors());
    const auto x = test::random_vector<double>(a.cols * kStride, 3);
    Array<double> y = test::poisoned_vector<double>(a.rows * kStride);
    kernel->multi_multiply({x.data(), a.cols, kWidth, kStride}, {y.data(), a.rows, kWidth, kStride},
                           Accumulate::no, nullptr);
    for (std::int64_t j = 0; j < kStride; ++j) {
      Array<double> xj(a.cols), yj(a.rows);
      for (std::int64_t i = 0; i < a.cols; ++i) xj[i] = x[i * kStride + j];
      for (std::int64_t i = 0; i < a.rows; ++i) yj[i] = y[i * kStride + j];
      EXPECT_EQ(compare_product<double>(a.view(), xj, yj).within_bound(), j < kWidth) << j;
    }
  }
}

TEST(BlockedCudaKernel, MultipliesVectorsOnlyWhereEveryBlockDoes) {
  CsrMatrix<double> a = test::matrix_with_row_lengths<double>({4, 4, 4}, 9);
  cut_again(a, 4);
  for (const int without : {-1, 0, 2}) {
    int block = 0;
    const auto kernel = build_by_blocks<double>(blocks_of(a), [&](const Csr& csr) {
      return std::make_unique<KernelInHostMemory>(csr, block++ != without);
    });
    EXPECT_EQ(block, 3);
    EXPECT_EQ(kernel->multiplies_vectors(), without < 0) << without;
  }
}

TEST(BlockedCudaKernel, SumsTheDotProductOverAllBlocks) {
  for (const std::int64_t most : {4, 7, 12}) {
    SCOPED_TRACE(most);
    const auto whole = test::matrix_with_row_lengths<double>({3, 0, 4, 1, 2, 4, 0, 3}, 8);
    CsrMatrix<double> a = whole;
    cut_again(a, most);
    ASSERT_FALSE(a.cuts.empty());
    const auto kernel = build_by_blocks<double>(
        blocks_of(a), [](const Csr& csr) { return std::make_unique<DotInHostMemory>(csr); });
    ASSERT_EQ(kernel->dot_partials(), 8 + a.cuts.size() + 1);
    const auto x = test::random_vector<double>(8, 4);
    Array<double> y = test::poisoned_vector<double>(8);
    Array<double> partials = test::poisoned_vector<double>(kernel->dot_partials());
    kernel->multiply_and_dot(span_of(x), {y.data(), y.size()}, {partials.data(), partials.size()},
                             nullptr);
    EXPECT_TRUE(compare_product<double>(whole.view(), x, y).within_bound());
    double sum = 0, expected = 0;
    for (const double partial : partials) sum += partial;
    for (std::size_t i = 0; i < 8; ++i) expected += x[i] * y[i];
    EXPECT_NEAR(sum, expected, 1e-14);
  }
}

// A block with as many rows as the matrix has columns is square by chance only.
TEST(BlockedCudaKernel, HasNoDotProductUnlessTheMatrixIsSquareAndEveryBlockHasIt) {
  const auto partials_of = [](std::int64_t cols, std::size_t without) {
    CsrMatrix<double> a = test::matrix_with_row_lengths<double>({2, 2, 2, 2}, cols);
    cut_again(a, 4);
    EXPECT_EQ(a.cuts.size(), 1u);
    std::size_t block = 0;
    return build_by_blocks<double>(blocks_of(a),
                                   [&](const Csr& csr) -> std::unique_ptr<CudaKernel<double>> {
                                     if (block++ == without)
                                       return std::make_unique<KernelInHostMemory>(csr);
                                     return std::make_unique<DotInHostMemory>(csr);
                                   })
        ->dot_partials();
  };
  EXPECT_EQ(partials_of(4, 9), 6u);
  EXPECT_EQ(partials_of(4, 0), 0u);
  EXPECT_EQ(partials_of(4, 1), 0u);
  EXPECT_EQ(partials_of(2, 9), 0u);
  EXPECT_EQ(partials_of(5, 9), 0u);
}

TEST(BlockedCudaKernel, AddsUpTheStatistics) {
  CsrMatrix<double> a = test::matrix_with_row_lengths<double>({2, 2, 2}, 9);
  cut_again(a, 4);  // two rows and four entries, one row and two entries
  const KernelStatistics all = kernel_for(a)->statistics();
  EXPECT_EQ(all.stored_bytes, 12 * 6);
  EXPECT_DOUBLE_EQ(all.padding_ratio, (2.0 * 4 + 1.0 * 2) / 6);
  ASSERT_EQ(all.steps.size(), 2u);
  EXPECT_EQ(all.steps[0].name, "order");
  EXPECT_EQ(all.steps[0].seconds, 2);
  EXPECT_EQ(all.steps[1].name, "fill");
  EXPECT_EQ(all.steps[1].seconds, 3);
}

TEST(BlockedCudaKernel, IsNoneForAMatrixOfOneBlock) {
  const auto a = test::contract_shape<double>("AllMixed");
  EXPECT_NE(dynamic_cast<KernelInHostMemory*>(kernel_for(a).get()), nullptr);
}

TEST(BlockedDeviceCsr, RefusesToBeOneBlockWhereItHasSeveral) {
  BlockedDeviceCsr<double> matrix;
  EXPECT_TRUE(matrix.is_one_block());
  EXPECT_EQ(matrix.view().rows, 0);
  matrix.later = {{3, 10}};
  EXPECT_FALSE(matrix.is_one_block());
  try {
    matrix.view();
    ADD_FAILURE() << "one block";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
  }
}

}  // namespace
}  // namespace trireme
