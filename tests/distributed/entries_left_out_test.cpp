// SPDX-License-Identifier: BSD-3-Clause
// Operators whose GPU holds the layout of the kernel and not the matrix: the bits of those that
// hold both. Skips without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "distributed/device_blocks.hpp"
#include "distributed/matrix_look.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "distributed/row_sizes.hpp"
#include "parallel/nodes.hpp"
#include "sparse/generators.hpp"
#include "sparse/row_blocks.hpp"
#include "support/random.hpp"
#include "support/same_bits.hpp"

namespace trireme {
namespace {

using test::same_bits;

class EntriesLeftOut : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
    select_device(rank_on_node(MPI_COMM_WORLD));
  }
};

constexpr const char* kCopyEntries[] = {"sell", "teb", "dasp"};

// In one block of rows or in several.
std::shared_ptr<DistributedMatrix> matrix_in(bool blocks, const char* kind = "poisson2d") {
  GenerateSpec spec;
  spec.kind = kind;
  spec.n = std::string(kind) == "rmat" ? 10 : 60;
  const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
  std::vector<std::int64_t> starts =
      test::row_starts(a, size_of(MPI_COMM_WORLD), test::Cut::by_nonzeros);
  const int rank = rank_of(MPI_COMM_WORLD);
  RowSlab slab = test::slab_of(a, starts[rank], starts[rank + 1]);
  if (blocks) cut_again(slab.local, std::max<std::int64_t>(slab.local.nnz() / 4, 1024));
  return distribute(MPI_COMM_WORLD, std::move(slab), std::move(starts));
}

std::shared_ptr<DistributedMatrix> without_entries(bool blocks, const char* kind = "poisson2d") {
  const auto matrix = matrix_in(blocks, kind);
  matrix->on_device =
      std::make_shared<DeviceBlocks>(*matrix, nullptr, DeviceBlocks::MakeLocal(), false);
  return matrix;
}

Array<double> product_of(CudaOperator& op) {
  const Array<double> x = test::random_vector<double>(op.matrix().local_rows(), 3);
  Array<double> y = test::poisoned_vector<double>(op.matrix().local_rows());
  op.multiply(x, y);
  return y;
}

TEST_F(EntriesLeftOut, HaveTheBitsOfEntriesThatAreThereAlsoForNewValues) {
  for (const bool blocks : {false, true})
    for (const char* kind : {"poisson2d", "rmat"})
      for (const char* kernel : kCopyEntries) {
        SCOPED_TRACE(std::string(kernel) + ", " + kind + (blocks ? ", in blocks" : ""));
        CudaOperator kept(matrix_in(blocks, kind), kernel);
        CudaOperator left_out(without_entries(blocks, kind), kernel);
        EXPECT_TRUE(kept.has_entries());
        ASSERT_FALSE(left_out.has_entries());
        EXPECT_TRUE(same_bits(product_of(left_out), product_of(kept)));
        const auto values = test::random_vector<double>(kept.matrix().blocks.nnz(), 77);
        kept.update_values(values);
        left_out.update_values(values);
        EXPECT_FALSE(left_out.has_entries());
        EXPECT_TRUE(same_bits(product_of(left_out), product_of(kept)));
      }
}

TEST_F(EntriesLeftOut, OfferNoCsrToASolver) {
  const auto matrix = without_entries(true);
  const auto op = std::make_shared<CudaOperator>(matrix, "sell");
  op->choose_row_order(1'000'000, {.min_nonzeros = 0, .min_products = 0, .min_gain = -1e9});
  EXPECT_EQ(op->permuted(), nullptr);
  const CudaOperatorSystem system(op);
  EXPECT_EQ(system.csr().rows, 0);
  for (const DeviceRowBlock<double>& block : system.local_blocks()) EXPECT_EQ(block.csr.rows, 0);
  EXPECT_TRUE(DeviceBlocks::left_entries_out(*matrix));
  EXPECT_THROW(matrix->on_device->local(), Error);
  EXPECT_THROW(matrix->on_device->reserve_ahead(), Error);
}

// The kernel that was built without them goes on, and takes values from them.
TEST_F(EntriesLeftOut, ComeBackForWhoeverReadsThem) {
  for (const bool blocks : {false, true}) {
    const auto matrix = without_entries(blocks);
    CudaOperator sell(matrix, "sell"), kept(matrix_in(blocks), "sell");
    const auto values = test::random_vector<double>(matrix->blocks.nnz(), 77);
    sell.update_values(values);
    kept.update_values(values);
    CudaOperator albus(matrix, "albus"), albus_kept(kept.shared_matrix(), "albus");
    EXPECT_TRUE(albus.has_entries());
    EXPECT_TRUE(same_bits(product_of(albus), product_of(albus_kept)));
    EXPECT_TRUE(same_bits(product_of(sell), product_of(kept)));
    EXPECT_FALSE(DeviceBlocks::left_entries_out(*matrix));
    const auto more = test::random_vector<double>(matrix->blocks.nnz(), 78);
    sell.update_values(more);
    kept.update_values(more);
    EXPECT_TRUE(same_bits(product_of(sell), product_of(kept)));
  }
}

TEST_F(EntriesLeftOut, LetAMatrixBeLookedAt) {
  for (const bool blocks : {false, true})
    for (const char* kind : {"poisson2d", "rmat"}) {
      SCOPED_TRACE(std::string(kind) + (blocks ? ", in blocks" : ""));
      const auto matrix = without_entries(blocks, kind), on_host = matrix_in(blocks, kind);
      const MatrixLook& look = look_at(*matrix);
      EXPECT_EQ(in_short(look), in_short(look_at(*on_host)));
      EXPECT_EQ(look.row_sizes.least, look_at(*on_host).row_sizes.least);
      EXPECT_EQ(look.row_sizes.greatest, look_at(*on_host).row_sizes.greatest);
      EXPECT_EQ(row_sizes(*without_entries(blocks, kind)).inverse, row_sizes(*on_host).inverse);
      EXPECT_EQ(row_sizes(*matrix).inverse, row_sizes(*on_host).inverse);
      EXPECT_TRUE(DeviceBlocks::left_entries_out(*matrix));
    }
}

// Values that FP32 does not hold need the exact product, which reads the entries.
TEST_F(EntriesLeftOut, AreThereForMixedPrecision) {
  const auto matrix = without_entries(false);
  const auto values = test::random_vector<double>(matrix->blocks.nnz(), 77);
  CudaOperator(matrix, "sell").update_values(values);
  CudaOperator mixed(matrix, "sell", Precision::mixed);
  EXPECT_TRUE(mixed.inexact());
  EXPECT_TRUE(mixed.has_entries());
}

TEST_F(EntriesLeftOut, AreThoseOfMatricesThatTakeMuchOfTheMemory) {
  EXPECT_TRUE(DeviceBlocks::entries_fit_well(1e6, 7e6, 80e9));
  EXPECT_TRUE(DeviceBlocks::entries_fit_well(0, 1e9, 36e9));
  EXPECT_FALSE(DeviceBlocks::entries_fit_well(1, 1e9, 36e9));
  const auto matrix = matrix_in(false);
  CudaOperator op(matrix, "sell");
  EXPECT_FALSE(DeviceBlocks::left_entries_out(*matrix));
}

}  // namespace
}  // namespace trireme
