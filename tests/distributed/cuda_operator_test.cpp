// SPDX-License-Identifier: BSD-3-Clause
// The GPU operator gives the products of the host operator, for every CUDA kernel and for several
// ranks on one GPU. Skips without a GPU.
#include "distributed/cuda_operator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "distributed/exchanges.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/nodes.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "solvers/systems.hpp"
#include "support/permuted_csr.hpp"
#include "support/petsc_environment.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

class CudaOperatorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
    select_device(rank_on_node(MPI_COMM_WORLD));
  }
};

void expect_equal(const Array<double>& y, const Array<double>& expected) {
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << "local row " << i;
}

// The product also sums this rank's part of x . A x.
void expect_dot(CudaOperator& cuda, const Array<double>& x, const Array<double>& y) {
  const std::size_t count = cuda.dot_partials();
  const StreamRef stream = cuda.stream();
  const DeviceBuffer<double> on_gpu = to_device(std::span<const double>(x), stream);
  const DeviceBuffer<double> product(x.size(), stream), partials(count, stream);
  fill_nan(partials.span(), stream);
  cuda.queue_product(on_gpu.view(), product.span(), partials.span(), stream);
  expect_equal(to_host(product.view(), stream), y);
  if (count == 0) return;
  double sum = 0, expected = 0, size = 0;
  for (const double partial : to_host(partials.view(), stream)) sum += partial;
  for (std::size_t i = 0; i < x.size(); ++i) expected += x[i] * y[i];
  for (std::size_t i = 0; i < x.size(); ++i) size += std::abs(x[i] * y[i]);
  EXPECT_NEAR(sum, expected, 1e-12 * (1 + size));
}

bool refused_on_a_rank(std::string_view kernel, const DistributedMatrix& matrix) {
  const bool here = test::must_refuse(kernel, matrix.blocks.local.view());
  return sum_over_ranks(matrix.comm, here ? 1 : 0) > 0;
}

TEST_F(CudaOperatorTest, AgreesWithTheHostForEveryKernelAndCut) {
  for (const char* shape : {"OneByOne", "SomeRowsEmpty", "OneDenseRow", "EveryLengthTo600"})
    for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty})
      for (const KernelEntry& entry : kernel_registry()) {
        if (!entry.cuda_double) continue;
        SCOPED_TRACE(std::string(shape) + ", " + std::string(entry.name));
        const auto matrix =
            matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>(shape), cut);
        if (refused_on_a_rank(entry.name, *matrix)) continue;
        HostOperator host(matrix, "csr");
        CudaOperator cuda(matrix, entry.name);
        const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
        Array<double> expected(x.size());
        host.multiply(x, expected);
        Array<double> first;
        for (int repetition = 0; repetition < 3; ++repetition) {
          Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
          cuda.multiply(x, y);
          expect_equal(y, expected);
          if (repetition == 0) first = y;
          if (entry.deterministic) {
            EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(double)), 0);
          }
        }
        EXPECT_EQ(cuda.times().count(), 3);
      }
}

// X and Y have rows of 8 elements; 5 of them are vectors, and the others keep what they have.
TEST_F(CudaOperatorTest, MultipliesSeveralVectorsWithOneExchange) {
  constexpr std::int64_t kStride = 8, kVectors = 5;
  for (const char* shape : {"OneByOne", "SomeRowsEmpty", "OneDenseRow", "EveryLengthTo600"})
    for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty})
      for (const char* kernel : {"spmm-row-warp", "spmm-nnz-cache"}) {
        SCOPED_TRACE(std::string(shape) + ", " + kernel);
        const auto matrix =
            matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>(shape), cut);
        const std::int64_t rows = matrix->local_rows();
        HostOperator host(matrix, "csr");
        CudaOperator cuda(matrix, kernel);
        ASSERT_TRUE(cuda.multiplies_vectors());
        cuda.prepare_multi_product(kStride, kVectors);
        const StreamRef stream = cuda.stream();
        const Array<double> x = test::random_vector<double>(rows * kStride, 3);
        const DeviceBuffer<double> on_gpu = to_device(std::span<const double>(x), stream);
        const DeviceBuffer<double> product(x.size(), stream);
        fill_nan(product.span(), stream);
        for (int repetition = 0; repetition < 2; ++repetition)
          cuda.queue_multi_product({on_gpu.data(), rows, kVectors, kStride, 1},
                                   {product.data(), rows, kVectors, kStride, 1}, stream);
        const Array<double> y = to_host(product.view(), stream);
        Array<double> expected(x.size(), NAN);
        host.multi_multiply({x.data(), rows, kVectors, kStride, 1},
                            {expected.data(), rows, kVectors, kStride, 1});
        for (std::int64_t i = 0; i < rows * kStride; ++i) {
          if (i % kStride < kVectors)
            ASSERT_NEAR(y[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << i;
          else
            ASSERT_TRUE(std::isnan(y[i])) << i;
        }
      }
}

TEST_F(CudaOperatorTest, MixedPrecisionMultipliesByTheRoundedMatrixAndByTheMatrixItself) {
  const CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
  const CsrMatrix<double> rounded = test::rounded_to_float(a);
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto rounded_matrix = matrix_on_ranks(MPI_COMM_WORLD, rounded, Cut::by_nonzeros);
  HostOperator host(matrix, "csr"), rounded_host(rounded_matrix, "csr");
  const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
  Array<double> expected(x.size()), y(x.size());
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.cuda_mixed) continue;
    SCOPED_TRACE(entry.name);
    CudaOperator cuda(matrix, entry.name, Precision::mixed);
    EXPECT_TRUE(cuda.inexact());
    rounded_host.multiply(x, expected);
    cuda.multiply(x, y);
    expect_equal(y, expected);
    host.multiply(x, expected);
    cuda.multiply_exactly(x, y);
    expect_equal(y, expected);
  }
}

std::shared_ptr<OrderedMatrix> shuffled(const std::shared_ptr<DistributedMatrix>& matrix) {
  return std::make_shared<OrderedMatrix>(matrix, Ordering::cluster,
                                         test::random_order(matrix->local_rows()));
}

TEST_F(CudaOperatorTest, WorksInAnOrderAndAgreesWithTheHost) {
  for (const CsrMatrix<double>& a :
       {test::contract_shape<double>("OneDenseRow"),
        test::contract_shape<double>("EveryLengthTo600"), test::grid_matrix(30)})
    for (const Cut cut : {Cut::by_nonzeros, Cut::first_rank_empty})
      for (const KernelEntry& entry : kernel_registry()) {
        if (!entry.cuda_double) continue;
        SCOPED_TRACE(entry.name);
        const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, cut);
        if (refused_on_a_rank(entry.name, *matrix)) continue;
        HostOperator host(matrix, "csr");
        CudaOperator cuda(matrix, entry.name,
                          {.ghost_kernel = "csr-vector", .ordered = shuffled(matrix)});
        const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
        Array<double> expected(x.size()), y(x.size());
        host.multiply(x, expected);
        cuda.multiply(x, y);
        expect_equal(y, expected);
        cuda.update_values(test::random_vector<double>(matrix->blocks.nnz(), 77));
        host.refresh_values();
        host.multiply(x, expected);
        cuda.multiply(x, y);
        expect_equal(y, expected);
        cuda.multiply_exactly(x, y);
        expect_equal(y, expected);
      }
}

TEST_F(CudaOperatorTest, KnowsTheRowDefectInItsOrder) {
  const auto matrix = matrix_on_ranks(
      MPI_COMM_WORLD, test::contract_shape<double>("EveryLengthTo600"), Cut::by_nonzeros);
  const auto ordered = shuffled(matrix);
  CudaOperator cuda(matrix, "csr-vector", {.precision = Precision::mixed, .ordered = ordered});
  const Array<float> in_order = to_host(cuda.device_row_defect(), cuda.stream());
  ASSERT_EQ(std::ssize(in_order), matrix->local_rows());
  for (std::size_t i = 0; i < in_order.size(); ++i)
    ASSERT_EQ(in_order[i], cuda.row_defect()[ordered->order()[i]]);
  HostOperator host(matrix, "csr");
  const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
  Array<double> expected(x.size()), y(x.size());
  host.multiply(x, expected);
  cuda.multiply_exactly(x, y);
  expect_equal(y, expected);
}

TEST_F(CudaOperatorTest, FindsTheClustersOfTheHost) {
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(60), Cut::by_nonzeros);
  const auto here = order_matrix(matrix, Ordering::cluster, Device::cpu);
  const auto there = order_matrix(matrix, Ordering::cluster, Device::cuda);
  EXPECT_TRUE(std::ranges::equal(here->order(), there->order()));
}

class CudaOperatorExchange : public CudaOperatorTest,
                             public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaOperatorExchange, testing::ValuesIn(test::kExchanges),
                         [](const auto& exchange) { return test::name_in_tests(exchange.param); });

// Matrices in which few rows have ghosts, and some neighbours of a rank send but do not receive.
TEST_P(CudaOperatorExchange, AgreesWithTheHost) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank exchanges nothing";
  CsrMatrix<double> upper = test::contract_shape<double>("SomeRowsEmpty");
  for (std::int64_t row = 0; row < upper.rows; ++row)
    for (std::int32_t k = upper.row_ptr[row]; k < upper.row_ptr[row + 1]; ++k)
      upper.col_idx[k] = std::max(upper.col_idx[k], static_cast<std::int32_t>(row));
  const CsrMatrix<double> shapes[] = {test::contract_shape<double>("OneDenseRow"),
                                      test::contract_shape<double>("EveryLengthTo600"),
                                      std::move(upper), test::grid_matrix(30)};
  bool possible = true;
  for (const CsrMatrix<double>& shape : shapes)
    for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty}) {
      const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, shape, cut);
      std::unique_ptr<CudaOperator> cuda;
      try {
        cuda = std::make_unique<CudaOperator>(matrix, "csr-vector", Precision::full,
                                              test::exchange_request(GetParam()));
      } catch (const Error& error) {  // NCCL between ranks that share a GPU
        EXPECT_EQ(error.code(), ExitCode::resource) << error.what();
        possible = false;
        continue;
      }
      HostOperator host(matrix, "csr");
      for (int round = 0; round < 5; ++round) {  // more than the parities of a peer's inbox
        const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3 + round);
        Array<double> expected(x.size());
        Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
        host.multiply(x, expected);
        cuda->multiply(x, y);
        expect_equal(y, expected);
        expect_dot(*cuda, x, expected);
      }
    }
  if (!possible) GTEST_SKIP() << "not possible here";
}

// Values and vectors are rounded once each, and sums are in FP64.
TEST_P(CudaOperatorExchange, MultipliesVectorsInFp32) {
  constexpr double kRounding = 0x1p-24;
  for (const CsrMatrix<double>& shape : {test::grid_matrix(60), test::grid_matrix(30, 0.5, 100)})
    for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty}) {
      CsrMatrix<double> a = shape, magnitudes = shape;
      for (std::size_t k = 0; k < a.values.size(); ++k) {
        a.values[k] /= 3;  // no value is an FP32 number
        magnitudes.values[k] = std::abs(a.values[k]);
      }
      const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, cut);
      std::unique_ptr<CudaOperator> cuda;
      try {
        cuda = std::make_unique<CudaOperator>(matrix, "sell", Precision::mixed,
                                              test::exchange_request(GetParam()));
      } catch (const Error& error) {  // NCCL between ranks that share a GPU
        if (error.code() != ExitCode::resource) throw;
        GTEST_SKIP() << error.what();
      }
      ASSERT_TRUE(cuda->takes_floats());
      cuda->prepare_floats();
      ASSERT_TRUE(cuda->takes_floats());
      HostOperator host(matrix, "csr");
      HostOperator of_magnitudes(matrix_on_ranks(MPI_COMM_WORLD, magnitudes, cut), "csr");
      const StreamRef stream = cuda->stream();
      for (int round = 0; round < 4; ++round) {
        Array<double> x = test::random_vector<double>(matrix->local_rows(), 3 + round);
        Array<float> narrow(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = narrow[i] = static_cast<float>(x[i]);
        const DeviceBuffer<float> on_gpu = to_device(std::span<const float>(narrow), stream);
        const DeviceBuffer<float> product(x.size(), stream);
        const DeviceBuffer<double> partials(cuda->float_dot_partials(), stream);
        fill_nan(partials.span(), stream);
        memory::fill(product.data(), 0xff, x.size() * sizeof(float), stream);  // NaN
        cuda->queue_float_product(on_gpu.view(), product.span(), partials.span(), stream);
        const Array<float> y = to_host(product.view(), stream);
        Array<double> expected(x.size()), size(x.size()), magnitude = x;
        for (double& value : magnitude) value = std::abs(value);
        host.multiply(x, expected);
        of_magnitudes.multiply(magnitude, size);
        double dot = 0, sum = 0, bound = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          ASSERT_NEAR(y[i], expected[i], 4 * kRounding * size[i]) << "local row " << i;
          dot += x[i] * expected[i];
          bound += magnitude[i] * size[i];
        }
        if (partials.size() == 0) continue;
        for (const double partial : to_host(partials.view(), stream)) sum += partial;
        EXPECT_NEAR(sum, dot, 4 * kRounding * bound);
      }
    }
}

TEST_F(CudaOperatorTest, NewValuesReachTheDevice) {
  const auto matrix = matrix_on_ranks(
      MPI_COMM_WORLD, test::contract_shape<double>("EveryLengthTo600"), Cut::by_nonzeros);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.cuda_double) continue;
    SCOPED_TRACE(entry.name);
    HostOperator host(matrix, "csr");
    CudaOperator cuda(matrix, entry.name);
    cuda.update_values(test::random_vector<double>(matrix->blocks.nnz(), 77));
    host.refresh_values();
    const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
    Array<double> expected(x.size()), y(x.size());
    host.multiply(x, expected);
    cuda.multiply(x, y);
    expect_equal(y, expected);
  }
}

TEST_F(CudaOperatorTest, OperatorsOfOneMatrixShareItsBlocksAndRefreshThemOnce) {
  const auto matrix = matrix_on_ranks(
      MPI_COMM_WORLD, test::contract_shape<double>("EveryLengthTo600"), Cut::by_nonzeros);
  CudaOperator first(matrix, "csr-vector"), second(matrix, "dasp");
  EXPECT_GT(first.upload_seconds(), 0);
  EXPECT_EQ(second.upload_seconds(), 0);
  EXPECT_EQ(first.local().arrays.values.data(), second.local().arrays.values.data());

  HostOperator host(matrix, "csr");
  const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
  Array<double> expected(x.size()), y(x.size());
  first.update_values(test::random_vector<double>(matrix->blocks.nnz(), 77));
  host.refresh_values();
  host.multiply(x, expected);
  // Numbers that nobody announces show that the second operator causes no second upload.
  std::swap(matrix->blocks.local.values.front(), matrix->blocks.local.values.back());
  second.refresh_values();
  second.multiply(x, y);
  expect_equal(y, expected);
  first.multiply(x, y);
  expect_equal(y, expected);

  // An operator that has this version already uploads what the caller has written.
  second.refresh_values();
  host.refresh_values();
  host.multiply(x, expected);
  second.multiply(x, y);
  expect_equal(y, expected);

  // A later operator begins with values that an operator on the host has replaced.
  host.update_values(test::random_vector<double>(matrix->blocks.nnz(), 78));
  host.multiply(x, expected);
  CudaOperator later(matrix, "dasp");
  later.multiply(x, y);
  expect_equal(y, expected);
}

TEST_F(CudaOperatorTest, ShellMultipliesOnTheVectorsOfThisPetsc) {
  const auto matrix = matrix_on_ranks(
      MPI_COMM_WORLD, test::contract_shape<double>("EveryLengthTo600"), Cut::by_nonzeros);
  const auto cuda = std::make_shared<CudaOperator>(matrix, "csr-vector");
  const MatHandle shell = make_shell(cuda);
  const MatHandle host = make_shell(std::make_shared<HostOperator>(matrix, "csr"));
  VecHandle x, y, expected;
  petsc_check(MatCreateVecs(shell, x.put(), y.put()));
  petsc_check(VecDuplicate(y, expected.put()));
  petsc_check(VecSet(x, 0.25));
  petsc_check(MatMult(shell, x, y));
  petsc_check(MatMult(host, x, expected));
  PetscReal difference = 0, size = 0;
  petsc_check(VecNorm(expected, NORM_2, &size));
  petsc_check(VecAXPY(y, -1, expected));
  petsc_check(VecNorm(y, NORM_2, &difference));
  EXPECT_LT(difference, 1e-13 * size);
#if defined(PETSC_HAVE_CUDA)
  VecType type = nullptr;
  petsc_check(VecGetType(x, &type));
  EXPECT_NE(std::string(type).find("cuda"), std::string::npos) << type;
  EXPECT_EQ(cuda->staging_us(), 0) << "a device vector went through the host";
#endif
}

}  // namespace
}  // namespace trireme
