// SPDX-License-Identifier: BSD-3-Clause
// The GPU operator for matrices whose rows lie in blocks of a few nonzeros, against the operator on
// the host for the same matrix in one block. Some ranks have several blocks and others one or none.
// Skips without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "kernels/registry.hpp"
#include "parallel/nodes.hpp"
#include "sparse/generators.hpp"
#include "sparse/row_blocks.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

constexpr const char* kShapes[] = {"SomeRowsEmpty", "OneDenseRow", "EveryLengthTo600"};

class BlockedCudaOperator : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
    select_device(rank_on_node(MPI_COMM_WORLD));
  }
};

// Four blocks or more on a rank, where its longest row allows.
std::shared_ptr<DistributedMatrix> in_blocks(const CsrMatrix<double>& a, Cut cut) {
  std::vector<std::int64_t> starts = test::row_starts(a, size_of(MPI_COMM_WORLD), cut);
  const int rank = rank_of(MPI_COMM_WORLD);
  RowSlab slab = test::slab_of(a, starts[rank], starts[rank + 1]);
  std::int64_t longest = 1;
  for (std::int64_t row = 0; row < slab.local.rows; ++row)
    longest =
        std::max<std::int64_t>(longest, slab.local.row_ptr[row + 1] - slab.local.row_ptr[row]);
  cut_again(slab.local, std::max(longest, slab.local.nnz() / 4));
  return distribute(MPI_COMM_WORLD, std::move(slab), std::move(starts));
}

bool refuses_a_block(std::string_view kernel, const DistributedMatrix& matrix) {
  const auto blocks = matrix.blocks.local.blocks();
  const bool here = std::ranges::any_of(
      blocks, [&](const RowBlock<double>& block) { return test::must_refuse(kernel, block.csr); });
  return sum_over_ranks(matrix.comm, here ? 1 : 0) > 0;
}

void expect_equal_results(const Array<double>& y, const Array<double>& expected) {
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_NEAR(y[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << "local row " << i;
}

Array<double> product_of(Operator& op, std::uint64_t seed = 3) {
  const Array<double> x = test::random_vector<double>(op.matrix().local_rows(), seed);
  Array<double> y = test::poisoned_vector<double>(op.matrix().local_rows());
  op.multiply(x, y);
  return y;
}

CsrMatrix<double> generated(const char* kind, std::int64_t n) {
  GenerateSpec spec;
  spec.kind = kind;
  spec.n = n;
  return generate(spec, 0, generator_shape(spec).rows).local;
}

TEST_F(BlockedCudaOperator, AgreesWithTheHostForEveryKernelAndCutAndTakesNewValues) {
  for (const char* shape : kShapes)
    for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty}) {
      const CsrMatrix<double> a = test::contract_shape<double>(shape);
      for (const KernelEntry& entry : kernel_registry()) {
        if (!entry.cuda_double) continue;
        SCOPED_TRACE(std::string(shape) + ", " + std::string(entry.name));
        const auto whole = matrix_on_ranks(MPI_COMM_WORLD, a, cut), matrix = in_blocks(a, cut);
        if (refuses_a_block(entry.name, *matrix)) continue;
        HostOperator host(whole, "csr");
        CudaOperator cuda(matrix, entry.name);
        expect_equal_results(product_of(cuda), product_of(host));
        const auto values = test::random_vector<double>(matrix->blocks.nnz(), 77);
        cuda.update_values(values);
        host.update_values(values);
        expect_equal_results(product_of(cuda), product_of(host));
      }
    }
}

TEST_F(BlockedCudaOperator, HasSeveralBlocksOnTheDevice) {
  const auto matrix = in_blocks(generated("poisson2d", 60), Cut::by_nonzeros);
  CudaOperator cuda(matrix, "csr-vector");
  ASSERT_GE(cuda.local().blocks().size(), 4u);
  cuda.choose_row_order(1'000'000, {.min_nonzeros = 0, .min_products = 0, .min_gain = -1e9});
  EXPECT_EQ(cuda.permuted(), nullptr);
  const auto op = std::make_shared<CudaOperator>(matrix, "sell");
  const CudaOperatorSystem system(op);
  EXPECT_EQ(system.csr().rows, 0) << "the persistent kernel takes one block";
  EXPECT_EQ(system.local_blocks().size(), cuda.local().blocks().size());
  EXPECT_EQ(op->local().arrays.values.data(), cuda.local().arrays.values.data());
}

// The product also sums this rank's part of x . A x.
TEST_F(BlockedCudaOperator, SumsTheDotProductOverAllBlocks) {
  const CsrMatrix<double> a = generated("poisson2d", 60);
  const auto matrix = in_blocks(a, Cut::by_nonzeros);
  for (const char* kernel : {"csr-vector", "albus", "sell"}) {
    SCOPED_TRACE(kernel);
    CudaOperator cuda(matrix, kernel);
    ASSERT_GT(cuda.dot_partials(), 0u);
    const StreamRef stream = cuda.stream();
    const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
    const DeviceBuffer<double> on_gpu = to_device(std::span<const double>(x), stream);
    const DeviceBuffer<double> product(x.size(), stream), partials(cuda.dot_partials(), stream);
    fill_nan(product.span(), stream);
    fill_nan(partials.span(), stream);
    cuda.queue_product(on_gpu.view(), product.span(), partials.span(), stream);
    const Array<double> y = to_host(product.view(), stream);
    HostOperator host(matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros), "csr");
    expect_equal_results(y, product_of(host));
    double sum = 0, expected = 0, size = 0;
    for (const double partial : to_host(partials.view(), stream)) sum += partial;
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected += x[i] * y[i];
      size += std::abs(x[i] * y[i]);
    }
    EXPECT_NEAR(sum, expected, 1e-12 * (1 + size));
  }
}

// Ghosts of a grid lie in few rows, and those of a random matrix in most of them.
TEST_F(BlockedCudaOperator, MultipliesByTheGhostsOfAllBlocks) {
  for (const char* kind : {"poisson2d", "rmat"}) {
    SCOPED_TRACE(kind);
    const CsrMatrix<double> a = generated(kind, std::string(kind) == "rmat" ? 10 : 50);
    const auto whole = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
    const auto matrix = in_blocks(a, Cut::by_nonzeros);
    HostOperator host(whole, "csr");
    for (const char* kernel : {"csr-vector", "albus", "sell"}) {
      CudaOperator cuda(matrix, kernel);
      expect_equal_results(product_of(cuda), product_of(host));
      const auto values = test::random_vector<double>(matrix->blocks.nnz(), 77);
      cuda.update_values(values);
      host.update_values(values);
      expect_equal_results(product_of(cuda), product_of(host));
    }
  }
}

TEST_F(BlockedCudaOperator, OfCsrScalarHasTheBitsOfOneBlock) {
  for (const char* shape : kShapes) {
    SCOPED_TRACE(shape);
    const CsrMatrix<double> a = test::contract_shape<double>(shape);
    CudaOperator one(matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros), "csr-scalar");
    CudaOperator several(in_blocks(a, Cut::by_nonzeros), "csr-scalar");
    EXPECT_EQ(product_of(several), product_of(one));
  }
}

TEST_F(BlockedCudaOperator, MixedPrecisionHasTheRoundedTheExactProductAndTheRowDefect) {
  const CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
  const CsrMatrix<double> rounded = test::rounded_to_float(a);
  const auto whole = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  HostOperator host(whole, "csr"), host_mixed(whole, "csr", Precision::mixed);
  HostOperator rounded_host(matrix_on_ranks(MPI_COMM_WORLD, rounded, Cut::by_nonzeros), "csr");
  const auto matrix = in_blocks(a, Cut::by_nonzeros);
  for (const KernelEntry& entry : kernel_registry()) {
    if (!entry.cuda_mixed || refuses_a_block(entry.name, *matrix)) continue;
    SCOPED_TRACE(entry.name);
    CudaOperator cuda(matrix, entry.name, Precision::mixed);
    ASSERT_TRUE(cuda.inexact());
    expect_equal_results(product_of(cuda), product_of(rounded_host));
    const Array<double> x = test::random_vector<double>(matrix->local_rows(), 3);
    Array<double> y = test::poisoned_vector<double>(matrix->local_rows());
    cuda.multiply_exactly(x, y);
    expect_equal_results(y, product_of(host));
    const Array<float> defect = to_host(cuda.device_row_defect(), cuda.stream());
    const auto expected = host_mixed.row_defect();
    ASSERT_EQ(defect.size(), expected.size());
    for (std::size_t i = 0; i < defect.size(); ++i)
      EXPECT_NEAR(defect[i], expected[i], 1e-6 * (1e-6 + std::abs(expected[i]))) << i;
  }
}

TEST_F(BlockedCudaOperator, MultipliesSeveralVectorsWithOneExchange) {
  constexpr std::int64_t kStride = 8, kVectors = 5;
  for (const char* shape : kShapes)
    for (const char* kernel : {"csr-vector", "sell", "spmm-nnz-cache"}) {
      SCOPED_TRACE(std::string(shape) + ", " + kernel);
      const CsrMatrix<double> a = test::contract_shape<double>(shape);
      const auto matrix = in_blocks(a, Cut::by_nonzeros);
      HostOperator host(matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros), "csr");
      CudaOperator cuda(matrix, kernel);
      ASSERT_TRUE(cuda.multiplies_vectors());
      cuda.prepare_multi_product(kStride, kVectors);
      const std::int64_t rows = matrix->local_rows();
      const StreamRef stream = cuda.stream();
      const Array<double> x = test::random_vector<double>(rows * kStride, 3);
      const DeviceBuffer<double> on_gpu = to_device(std::span<const double>(x), stream);
      const DeviceBuffer<double> product(x.size(), stream);
      fill_nan(product.span(), stream);
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

}  // namespace
}  // namespace trireme
