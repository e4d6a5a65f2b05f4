// SPDX-License-Identifier: BSD-3-Clause
// What the block solver asks of a system: how many products and sums, and which products.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "solvers/block_solves.hpp"
#include "support/with_threads.hpp"

namespace trireme::solvers {
namespace {

using test::expect_solved;
using test::from_dense;
using test::grid_matrix;
using test::Options;
using test::random_columns;
using test::solve_block;
using test::Solved;

// A system that counts what it is asked for.
class CountingSystem : public HostKernelSystem {
 public:
  using HostKernelSystem::HostKernelSystem;
  void multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) override {
    ++products[x.width];
    HostKernelSystem::multi_multiply_exactly(x, y);
  }
  bool multiply_and_dot(MultiVector<const double> x, MultiVector<double> y, std::int64_t chunk_rows,
                        double* dots) override {
    ++products[x.width];
    return HostKernelSystem::multiply_and_dot(x, y, chunk_rows, dots);
  }
  void sum(std::span<double>) override { ++sums; }

  std::map<std::int64_t, int> products;  // by width
  int sums = 0;
};

TEST(BlockProducts, OneProductAndOneSumServeAllColumns) {
  const CsrMatrix<double> a = grid_matrix(16);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  CountingSystem system(*kernel, a.rows);
  Options o;
  o.variant = Variant::single_reduction;
  const std::vector<Solved> solved = solve_block(system, random_columns(a.rows, 16), o);
  std::int64_t least = solved[0].outcome.iterations, most = 0;
  for (const Solved& column : solved) {
    least = std::min(least, column.outcome.iterations);
    most = std::max(most, column.outcome.iterations);
  }
  // A confirmation takes one product and two sums more, for all columns that have ended by then.
  EXPECT_GE(system.products[16], least);
  EXPECT_LE(system.sums, most + 1 + 2 * 16);
}

TEST(BlockProducts, ColumnsThatHaveEndedAreNotMultiplied) {
  std::vector<std::vector<double>> dense(64, std::vector<double>(64, 0.0));
  for (std::size_t i = 0; i < 64; ++i) dense[i][i] = static_cast<double>(i + 1);
  const CsrMatrix<double> a = from_dense(dense);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  CountingSystem system(*kernel, a.rows);
  std::vector<Array<double>> b(8, Array<double>(64, 0.0));
  for (std::size_t j = 0; j < 8; ++j) b[j][j] = 1;  // one iteration
  b[5].assign(64, 1.0);                             // as many as it takes
  const std::vector<Solved> solved = solve_block(system, b, Options{});
  EXPECT_EQ(solved[0].outcome.iterations, 1);
  EXPECT_GT(solved[5].outcome.iterations, 20);
  EXPECT_EQ(system.products[8], 1);
  EXPECT_EQ(system.products[7], 1) << "the confirmation multiplies the columns that claim";
  EXPECT_GE(system.products[1], solved[5].outcome.iterations - 1);
}

// A system whose products have no dot products, so that the solver sums them in a pass of its own.
class WithoutDots : public HostKernelSystem {
 public:
  using HostKernelSystem::HostKernelSystem;
  bool multiply_and_dot(MultiVector<const double>, MultiVector<double>, std::int64_t,
                        double*) override {
    return false;
  }
};

TEST(BlockProducts, SumsInsideOfAProductHaveTheBitsOfAPassAfterIt) {
  const CsrMatrix<double> a = grid_matrix(51, 0, 10);  // six chunks; the last one is not full
  const std::vector<Array<double>> b = random_columns(a.rows, 13);
  Options o;
  o.rule.max_iterations = 40;
  for (const std::string kernel : {"csr", "albus"})
    for (const auto& [method, variant] : {std::pair{Method::cg, Variant::classic},
                                          {Method::cg, Variant::single_reduction},
                                          {Method::minres, Variant::classic}})
      for (const int threads : {1, 3}) {
        if (kernel == "albus" && threads > 1) continue;  // its other product cuts rows
        SCOPED_TRACE(kernel + ", " + std::string(info_of(method).name) + ", " +
                     std::to_string(threads) + " threads");
        const test::WithThreads with(threads);
        o.method = method;
        o.variant = variant;
        const auto built = build_host_kernel<double>(kernel, a.view());
        HostKernelSystem with_dots(*built, a.rows);
        WithoutDots without(*built, a.rows);
        const std::vector<Solved> one = solve_block(with_dots, b, o);
        const std::vector<Solved> other = solve_block(without, b, o);
        for (const Solved& column : one) EXPECT_EQ(column.outcome.iterations, 40);
        for (std::size_t j = 0; j < b.size(); ++j) test::expect_same_bits(one[j], other[j]);
      }
}

TEST(BlockProducts, ASystemNeedsNoProductForSeveralVectors) {
  class OneByOne : public HostSystem {
   public:
    OneByOne(HostKernel<double>& kernel, std::int64_t rows) : kernel_(kernel), rows_(rows) {}
    std::int64_t rows() const override { return rows_; }
    void multiply(std::span<const double> x, std::span<double> y) override {
      kernel_.multiply(x, y, Accumulate::no);
    }

   private:
    HostKernel<double>& kernel_;
    std::int64_t rows_;
  };
  const CsrMatrix<double> a = grid_matrix(16);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  OneByOne system(*kernel, a.rows);
  const std::vector<Array<double>> b = random_columns(a.rows, 5);
  expect_solved(a, b, solve_block(system, b, Options{}));
}

}  // namespace
}  // namespace trireme::solvers
