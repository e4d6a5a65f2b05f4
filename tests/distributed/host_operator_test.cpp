// SPDX-License-Identifier: BSD-3-Clause
// The distributed product equals the product of the whole matrix, on 1, 2, 3 and 5 ranks.
#include "distributed/host_operator.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "support/host_product.hpp"
#include "support/refusal.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

struct SquareMatrix {
  std::string name;
  CsrMatrix<double> matrix;
};

CsrMatrix<double> tridiagonal(std::int64_t n) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = std::max<std::int64_t>(row - 1, 0);
         column <= std::min(row + 1, n - 1); ++column) {
      a.col_idx.push_back(static_cast<std::int32_t>(column));
      a.values.push_back(column == row ? 2.0 + 0.1 * static_cast<double>(row) : -1.0);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

CsrMatrix<double> diagonal(std::int64_t n) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (std::int64_t row = 0; row < n; ++row) {
    a.col_idx.push_back(static_cast<std::int32_t>(row));
    a.values.push_back(1.0 + static_cast<double>(row));
    a.row_ptr.push_back(static_cast<std::int32_t>(row + 1));
  }
  return a;
}

std::vector<SquareMatrix> matrices() {
  std::vector<SquareMatrix> all;
  for (auto& shape : test::contract_shapes<double>())
    if (shape.matrix.rows == shape.matrix.cols)
      all.push_back({shape.name, std::move(shape.matrix)});
  all.push_back({"Tridiagonal", tridiagonal(1000)});
  all.push_back({"TwoRows", tridiagonal(2)});  // ranks without rows
  all.push_back({"NoHalo", diagonal(100)});
  return all;
}

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_double) names.emplace_back(entry.name);
  return names;
}

// Gathers the parts of a vector from all ranks.
Array<double> gathered(const DistributedMatrix& matrix, const Array<double>& part) {
  Array<double> whole(matrix.global_rows());
  std::vector<int> counts, starts;
  for (std::size_t rank = 0; rank + 1 < matrix.row_starts.size(); ++rank) {
    starts.push_back(static_cast<int>(matrix.row_starts[rank]));
    counts.push_back(static_cast<int>(matrix.row_starts[rank + 1] - matrix.row_starts[rank]));
  }
  MPI_Allgatherv(part.data(), static_cast<int>(part.size()), MPI_DOUBLE, whole.data(),
                 counts.data(), starts.data(), MPI_DOUBLE, matrix.comm);
  return whole;
}

CsrMatrix<double> transposed(const CsrMatrix<double>& a) {
  CsrMatrix<double> t;
  t.rows = a.cols;
  t.cols = a.rows;
  t.row_ptr.assign(a.cols + 1, 0);
  for (const std::int32_t column : a.col_idx) ++t.row_ptr[column + 1];
  for (std::int64_t column = 0; column < a.cols; ++column)
    t.row_ptr[column + 1] += t.row_ptr[column];
  t.col_idx.resize(a.nnz());
  t.values.resize(a.nnz());
  Array<std::int32_t> next(t.row_ptr.begin(), t.row_ptr.end() - 1);
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      const std::int32_t at = next[a.col_idx[k]]++;
      t.col_idx[at] = static_cast<std::int32_t>(row);
      t.values[at] = a.values[k];
    }
  return t;
}

bool refused_on_a_rank(const DistributedMatrix& matrix, const std::string& kernel) {
  const bool here = test::must_refuse(kernel, matrix.blocks.local.view());
  return sum_over_ranks(matrix.comm, here ? 1 : 0) > 0;
}

void expect_refusal(const std::shared_ptr<DistributedMatrix>& matrix, const std::string& kernel) {
  try {
    HostOperator op(matrix, kernel);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(test::is_refusal_of(kernel, error));
  }
}

TEST(HostOperator, ProductMatchesReferenceForEveryKernelMatrixAndCut) {
  for (const SquareMatrix& a : matrices())
    for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty})
      for (const std::string& kernel : kernels()) {
        SCOPED_TRACE(a.name + ", " + kernel);
        const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a.matrix, cut);
        if (refused_on_a_rank(*matrix, kernel)) {
          expect_refusal(matrix, kernel);
          continue;
        }
        HostOperator op(matrix, kernel);
        const Array<double> x = test::random_vector<double>(a.matrix.cols, 11);
        Array<double> first;
        for (int repetition = 0; repetition < 2; ++repetition) {
          Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
          op.multiply(test::own_part(*matrix, x), y);
          const Array<double> whole = gathered(*matrix, y);
          EXPECT_TRUE(test::judge(compare_product<double>(a.matrix.view(), x, whole), "y = A x"));
          if (repetition == 0) first = y;
          EXPECT_TRUE(y.empty() ||
                      std::memcmp(first.data(), y.data(), y.size() * sizeof(double)) == 0);
        }
        EXPECT_EQ(op.times().count(), 2);
      }
}

TEST(HostOperator, TransposedProductMatchesReference) {
  for (const SquareMatrix& a : matrices()) {
    SCOPED_TRACE(a.name);
    const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a.matrix, Cut::by_nonzeros);
    HostOperator op(matrix, "csr");
    const Array<double> x = test::random_vector<double>(a.matrix.rows, 12);
    Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
    op.multiply_transpose(test::own_part(*matrix, x), y);
    const CsrMatrix<double> t = transposed(a.matrix);
    EXPECT_TRUE(
        test::judge(compare_product<double>(t.view(), x, gathered(*matrix, y)), "y = A^T x"));
  }
}

TEST(HostOperator, DiagonalAddsDuplicatesAndIsZeroWhereNothingIsStored) {
  CsrMatrix<double> a = diagonal(40);
  a.col_idx[7] = 8;         // row 7 has no diagonal entry
  a.col_idx.push_back(39);  // row 39 has two
  a.values.push_back(0.5);
  a.row_ptr.back() += 1;
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  Array<double> d = test::poisoned_vector<double>(matrix->local_rows());
  matrix->diagonal(d);
  const Array<double> whole = gathered(*matrix, d);
  EXPECT_EQ(whole[6], 7.0);
  EXPECT_EQ(whole[7], 0.0);
  EXPECT_EQ(whole[39], 40.5);
}

TEST(HostOperator, NewValuesReachTheKernelsTheDiagonalAndTheTranspose) {
  for (const std::string& kernel : kernels()) {
    SCOPED_TRACE(kernel);
    CsrMatrix<double> a = test::contract_shape<double>("SomeRowsEmpty");
    const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
    HostOperator op(matrix, kernel);
    test::Random random(5);
    for (double& value : a.values) value = random.value<double>();
    const std::int64_t first = matrix->first_row(), last = first + matrix->local_rows();
    op.update_values(std::span<const double>(a.values).subspan(a.row_ptr[first],
                                                               a.row_ptr[last] - a.row_ptr[first]));
    const Array<double> x = test::random_vector<double>(a.cols, 13);
    Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
    op.multiply(test::own_part(*matrix, x), y);
    EXPECT_TRUE(test::judge(compare_product<double>(a.view(), x, gathered(*matrix, y)), "y = A x"));
    op.multiply_transpose(test::own_part(*matrix, x), y);
    const CsrMatrix<double> t = transposed(a);
    EXPECT_TRUE(
        test::judge(compare_product<double>(t.view(), x, gathered(*matrix, y)), "y = A^T x"));
  }
}

// The first row of each rank has many columns of other ranks, and its other rows have none, so that
// ell would pad the ghost block to more than 10 times the memory of CSR.
TEST(HostOperator, PlainCsrTakesAGhostBlockThatTheKernelRefuses) {
  constexpr std::int64_t kRowsOfRank = 500;
  const int ranks = size_of(MPI_COMM_WORLD);
  CsrMatrix<double> a;
  a.rows = a.cols = kRowsOfRank * ranks;
  for (std::int32_t row = 0; row < a.rows; ++row) {
    const bool first = row % kRowsOfRank == 0;
    for (std::int32_t column = 0; column < a.cols; ++column)
      if (column == row || (first && column % kRowsOfRank >= 450)) {
        a.col_idx.push_back(column);
        a.values.push_back(column == row ? 3.0 : -0.5);
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const bool here =
      matrix->blocks.ghost.nnz() > 0 && test::must_refuse("ell", matrix->blocks.ghost.view());
  HostOperator op(matrix, "csr", {.ghost_kernel = "ell"});
  EXPECT_EQ(op.ghost_refusals(), sum_over_ranks(MPI_COMM_WORLD, here ? 1 : 0));
  EXPECT_EQ(op.ghost_refusals() > 0, ranks > 1);
  const Array<double> x = test::random_vector<double>(a.cols, 11);
  Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
  op.multiply(test::own_part(*matrix, x), y);
  EXPECT_TRUE(test::judge(compare_product<double>(a.view(), x, gathered(*matrix, y)), "y = A x"));
}

TEST(HostOperator, MixedPrecisionMultipliesByTheRoundedMatrixAndByTheMatrixItself) {
  std::vector<SquareMatrix> all = matrices();
  for (SquareMatrix& a : all) {
    SCOPED_TRACE(a.name);
    for (double& value : a.matrix.values) value /= 3;
    const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a.matrix, Cut::by_nonzeros);
    HostOperator op(matrix, "csr", Precision::mixed);
    CsrMatrix<double> rounded = a.matrix;
    for (double& value : rounded.values) value = static_cast<float>(value);
    EXPECT_EQ(op.inexact(), rounded.values != a.matrix.values);
    const Array<double> x = test::random_vector<double>(a.matrix.cols, 11);
    Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
    op.multiply(test::own_part(*matrix, x), y);
    EXPECT_TRUE(
        test::judge(compare_product<double>(rounded.view(), x, gathered(*matrix, y)), "rounded"));
    op.multiply_exactly(test::own_part(*matrix, x), y);
    EXPECT_TRUE(
        test::judge(compare_product<double>(a.matrix.view(), x, gathered(*matrix, y)), "exact"));
    EXPECT_EQ(op.times().count(), 1);
  }
}

TEST(HostOperator, MixedPrecisionRefusesWhatFloatCannotHold) {
  for (const double scale : {1e39, 1e-39}) {
    CsrMatrix<double> a = tridiagonal(30);
    for (std::int32_t k = a.row_ptr[17]; k < a.row_ptr[18]; ++k) a.values[k] *= scale;
    const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
    try {
      HostOperator op(matrix, "csr", Precision::mixed);
      FAIL() << "accepted " << scale;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_NE(std::string(error.what()).find("row 17 "), std::string::npos) << error.what();
    }
  }
  CsrMatrix<double> tiny_beside_large = tridiagonal(30);
  tiny_beside_large.values[1] = 1e-60;  // 0 in FP32, and negligible in its row
  HostOperator op(matrix_on_ranks(MPI_COMM_WORLD, tiny_beside_large, Cut::by_nonzeros), "csr",
                  Precision::mixed);
  EXPECT_TRUE(op.inexact());
}

TEST(HostOperator, SeveralOperatorsShareOneMatrix) {
  const CsrMatrix<double> a = tridiagonal(100);
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  HostOperator one(matrix, "csr"), two(matrix, "csr");
  EXPECT_EQ(&one.matrix(), &two.matrix());
}

TEST(HostOperator, NonSquareMatrixIsRefusedOnEveryRank) {
  CsrMatrix<double> a = tridiagonal(20);
  a.cols = 30;
  try {
    matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(std::string(error.what()).find("20 x 30"), std::string::npos) << error.what();
  }
}

TEST(HostOperator, UnknownKernelIsTheSameErrorOnEveryRank) {
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, tridiagonal(20), Cut::by_nonzeros);
  try {
    HostOperator op(matrix, "albu");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST(ProductTimes, SummaryHoldsOrderStatisticsOfWhatWasKept) {
  const ProductTiming t = summarise({4, 1, 3, 2, 100}, 7);
  EXPECT_EQ(t.count, 7);
  EXPECT_EQ(t.min, 1);
  EXPECT_EQ(t.median, 3);
  EXPECT_EQ(t.max, 100);
  EXPECT_DOUBLE_EQ(t.mean, 22);
  EXPECT_NEAR(t.p95, 4 + 0.8 * 96, 1e-4);
}

TEST(ProductTimes, TheSlowestRankCounts) {
  ProductTimes times(2);
  for (int product = 0; product < 5; ++product) times.record(1e-6 * (1 + rank_of(MPI_COMM_WORLD)));
  EXPECT_EQ(times.count(), 5);
  const std::vector<float> kept = times.slowest(MPI_COMM_WORLD);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_NEAR(kept[0], size_of(MPI_COMM_WORLD), 1e-5);
}

TEST(ProductTimes, TheLastProductsAreKeptOldestFirst) {
  ProductTimes times(3);
  for (int product = 1; product <= 5; ++product) times.record(1e-6 * product);
  const std::vector<float> kept = times.slowest(MPI_COMM_WORLD);
  ASSERT_EQ(kept.size(), 3u);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(kept[k], 3 + k, 1e-5);
}

// Vectors side by side, with a gap behind each row, and one after the other.
TEST(HostOperator, MultipliesSeveralVectorsAsItMultipliesEach) {
  const CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
  for (const Cut cut : {Cut::by_nonzeros, Cut::first_rank_empty})
    for (const std::string& kernel : kernels()) {
      SCOPED_TRACE(kernel);
      const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, cut);
      HostOperator op(matrix, kernel);
      const std::int64_t rows = matrix->local_rows();
      for (const std::int64_t width : {1, 3, 8, 3}) {
        const Array<double> x = test::random_vector<double>((rows + 1) * (width + 2), 7);
        for (const MultiVector<const double>& from :
             {MultiVector<const double>{x.data(), rows, width, width + 2, 1},
              MultiVector<const double>{x.data(), rows, width, 1, rows + 1}}) {
          Array<double> y = test::poisoned_vector<double>((rows + 1) * (width + 2));
          const MultiVector<double> to{y.data(), rows, width, from.row_stride, from.vector_stride};
          op.multi_multiply(from, to);
          for (std::int64_t j = 0; j < width; ++j) {
            Array<double> xj(rows), yj(rows);
            for (std::int64_t i = 0; i < rows; ++i) {
              xj[i] = from(i, j);
              yj[i] = to(i, j);
            }
            const Array<double> whole_x = gathered(*matrix, xj), whole_y = gathered(*matrix, yj);
            EXPECT_TRUE(
                test::judge(compare_product<double>(a.view(), whole_x, whole_y), "Y = A X"));
          }
        }
      }
    }
}

}  // namespace
}  // namespace trireme
