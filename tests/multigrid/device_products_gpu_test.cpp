// SPDX-License-Identifier: BSD-3-Clause
// Sparse products and transposes on a GPU have the bits of the host.
#include <gtest/gtest.h>

#include <optional>

#include "device/device.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/dense.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "multigrid/set_up/triple_product.hpp"
#include "support/square_shapes.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;

class DeviceProducts : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
    stream_.emplace();
  }
  StreamRef stream() const { return *stream_; }

  void expect_equal(const DeviceRows& a, const CsrMatrix<double>& expected) const {
    EXPECT_EQ(a.rows, expected.rows);
    EXPECT_EQ(a.cols, expected.cols);
    EXPECT_TRUE(to_host(a.row_ptr.view(), stream()) == expected.row_ptr);
    EXPECT_TRUE(to_host(a.col_idx.view(), stream()) == expected.col_idx);
    EXPECT_TRUE(to_host(a.values.view(), stream()) == expected.values);
  }

  void expect_products_of_host(CsrMatrix<double> a, const CsrMatrix<double>& b, bool diagonal,
                               std::int32_t run, std::int32_t node = 1) const {
    const ProductRules rules{ColumnOrder::ascending, diagonal, run};
    CsrMatrix<double> expected = multiply(a.view(), b.view(), rules);
    auto on_device = to_device(a.view(), stream());
    const auto right = to_device(b.view(), stream());
    DeviceRows product = multiply(on_device.view(), right.view(), diagonal, run, stream(), node);
    expect_equal(product, expected);
    for (double& value : a.values) value = 1 / (value + 3);
    on_device = to_device(a.view(), stream());
    multiply_again(a.view(), b.view(), rules, expected);
    multiply_again(on_device.view(), right.view(), diagonal, run, product, stream(), node);
    expect_equal(product, expected);
  }

  // P^T A P and its two products, for a prolongator of the matrix.
  void expect_galerkin_of_host(const CsrMatrix<double>& a, const NearNullspace& modes,
                               std::int32_t block_size) const {
    const Coarsening c =
        coarsen(test::without_ghosts(a), modes, {.threshold = 0.25, .block_size = block_size});
    const std::int32_t run = c.coarse_block_size;
    const CsrMatrix<double> restriction = transpose(c.p.view());
    const CsrMatrix<double> a_p = multiply(a.view(), c.p.view(), {.run = run});
    expect_products_of_host(a, c.p, false, run);
    expect_products_of_host(restriction, a_p, true, run);
    if (block_size == 1) return;
    EXPECT_TRUE(nodes_share_columns(to_device(a.view(), stream()).view(), block_size, stream()));
    expect_products_of_host(a, c.p, false, run, block_size);
    expect_products_of_host(restriction, a_p, true, run, run);
  }

 private:
  std::optional<Stream> stream_;
};

CsrMatrix<double> random_matrix(std::int64_t rows, std::int64_t cols, std::int64_t longest,
                                std::uint64_t seed) {
  return trireme::test::matrix_with_row_lengths<double>(
      trireme::test::random_lengths(rows, 0, std::min(cols, longest), seed), cols, seed,
      trireme::test::Columns::unsorted);
}

TEST_F(DeviceProducts, HaveTheBitsOfTheHost) {
  for (const auto& [rows, inner, cols] :
       {std::tuple{97, 61, 83}, std::tuple{1, 300, 1}, std::tuple{700, 3, 900}, std::tuple{5, 0, 4},
        std::tuple{0, 5, 3}, std::tuple{4, 3, 0}, std::tuple{20'000, 15'000, 12'000}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << inner << " x " << cols);
    expect_products_of_host(random_matrix(rows, inner, 9, 1), random_matrix(inner, cols, 9, 2),
                            false, 1);
  }
}

// Rows of every class: tables of a group, of a warp and of a block, and bits in global memory.
TEST_F(DeviceProducts, TakeRowsOfAnyLength) {
  constexpr std::int64_t inner = 3000, cols = 40'000;
  const std::vector<std::int64_t> lengths{0, 1, 5, 6, 40, 60, 61, 400, 500, 900, 1100, 2000, 3000};
  const auto a = trireme::test::matrix_with_row_lengths<double>(
      trireme::test::mixed_lengths(lengths, 3), inner, 3);
  expect_products_of_host(a, random_matrix(inner, cols, 16, 4), false, 1);
}

// The bound of a row is far above its number of columns, or far above any table.
TEST_F(DeviceProducts, TakeRowsWhoseTermsMeet) {
  const auto a = trireme::test::matrix_with_row_lengths<double>({2000, 3, 700, 1999, 30}, 2000, 5);
  expect_products_of_host(a, random_matrix(2000, 50, 40, 6), false, 1);
  expect_products_of_host(a, random_matrix(2000, 600, 80, 7), false, 1);
}

TEST_F(DeviceProducts, TakeEveryShapeOfTheKernelContract) {
  for (const auto& [name, a] : trireme::test::square_shapes()) {
    SCOPED_TRACE(name);
    if (a.nnz() > 400'000) continue;  // a dense row would make a dense product
    expect_products_of_host(a, random_matrix(a.cols, 100, 4, 8), false, 1);
  }
}

TEST_F(DeviceProducts, OfAProlongatorHaveTheBitsOfTheHost) {
  for (const char* kind : {"poisson2d", "poisson3d", "poisson27", "mesh2d", "diffusion3d"}) {
    SCOPED_TRACE(kind);
    expect_galerkin_of_host(generated(kind, 16), {}, 1);
  }
  const std::vector<double> values = test::rigid_body_modes(9);
  const NearNullspace modes{.values = {values.begin(), values.end()}, .width = 6};
  const auto elasticity = generated("elasticity3d", 9);
  expect_galerkin_of_host(elasticity, modes, 3);
  expect_galerkin_of_host(elasticity, {}, 3);
}

TEST_F(DeviceProducts, TransposesHaveTheBitsOfTheHost) {
  for (const auto& [rows, cols] :
       {std::pair{0, 4}, std::pair{5, 0}, std::pair{1, 1}, std::pair{3000, 11}, std::pair{11, 3000},
        std::pair{20'000, 30'000}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << cols);
    auto a = random_matrix(rows, cols, 9, 9);
    auto on_device = to_device(a.view(), stream());
    DeviceTransposed t = transposed(on_device.view(), stream());
    Transposed expected = transposed(a.view());
    expect_equal(t.matrix, expected.matrix);
    EXPECT_TRUE(to_host(t.source.view(), stream()) == expected.source);
  }
}

TEST_F(DeviceProducts, HaveTheSameBitsTwice) {
  const auto a = random_matrix(30'000, 20'000, 30, 10), b = random_matrix(20'000, 9'000, 30, 11);
  const auto left = to_device(a.view(), stream()), right = to_device(b.view(), stream());
  const DeviceRows once = multiply(left.view(), right.view(), false, 1, stream());
  const DeviceRows twice = multiply(left.view(), right.view(), false, 1, stream());
  EXPECT_TRUE(to_host(once.col_idx.view(), stream()) == to_host(twice.col_idx.view(), stream()));
  EXPECT_TRUE(to_host(once.values.view(), stream()) == to_host(twice.values.view(), stream()));
}

}  // namespace
}  // namespace trireme::multigrid
