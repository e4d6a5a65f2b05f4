// SPDX-License-Identifier: BSD-3-Clause
// Operators that work in an order of rows multiply as those in the caller's order do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "support/host_product.hpp"
#include "support/permuted_csr.hpp"
#include "support/square_shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

constexpr Ordering kOrderings[] = {Ordering::rcm, Ordering::cluster};

// An order that no library would choose, so that each row moves.
std::shared_ptr<OrderedMatrix> shuffled(const std::shared_ptr<DistributedMatrix>& matrix) {
  return std::make_shared<OrderedMatrix>(matrix, Ordering::cluster,
                                         test::random_order(matrix->local_rows()));
}

// Compares the local rows of y = A x.
void expect_product(Operator& op, const CsrMatrix<double>& a) {
  const DistributedMatrix& matrix = op.matrix();
  const Array<double> x = test::random_vector<double>(a.cols, 11);
  Array<double> y = test::poisoned_vector<double>(matrix.local_rows());
  op.multiply(test::own_part(matrix, x), y);
  CsrMatrix<double> rows =
      test::slab_of(a, matrix.first_row(), matrix.first_row() + matrix.local_rows()).local;
  EXPECT_TRUE(test::judge(compare_product<double>(rows.view(), x, y), "y = A x"));
}

void expect_product_in_orders(const CsrMatrix<double>& a, Cut cut) {
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, cut);
  for (const Ordering ordering : kOrderings) {
    SCOPED_TRACE(to_string(ordering));
    HostOperator op(matrix, "csr", {.ordered = order_matrix(matrix, ordering)});
    expect_product(op, a);
  }
}

TEST(OrderedOperator, MultipliesInTheCallersOrderForEveryShape) {
  for (const auto& [name, a] : test::square_shapes()) {
    SCOPED_TRACE(name);
    expect_product_in_orders(a, Cut::by_nonzeros);
  }
}

TEST(OrderedOperator, MultipliesInTheCallersOrderForEveryCut) {
  const CsrMatrix<double> a = test::contract_shape<double>("ShortAndMedium");
  for (const Cut cut : {Cut::all_on_last_rank, Cut::first_rank_empty})
    expect_product_in_orders(a, cut);
}

TEST(OrderedOperator, TakesEveryKernelForEachOfItsBlocks) {
  const CsrMatrix<double> a = test::contract_shape<double>("RowsOf5");
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto ordered = shuffled(matrix);
  for (const KernelEntry& local : kernel_registry())
    for (const KernelEntry& ghost : kernel_registry()) {
      if (!local.host_double || !ghost.host_double) continue;
      SCOPED_TRACE(std::string(local.name) + ", " + std::string(ghost.name));
      HostOperator op(matrix, local.name,
                      {.ghost_kernel = std::string(ghost.name), .ordered = ordered});
      expect_product(op, a);
      EXPECT_EQ(op.ghost_kernel(), ghost.name);
    }
}

TEST(OrderedOperator, UsesTheGhostKernelInTheCallersOrderToo) {
  const CsrMatrix<double> a = test::contract_shape<double>("ShortAndMedium");
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  HostOperator op(matrix, "csr", {.ghost_kernel = "dasp"});
  expect_product(op, a);
  if (matrix->blocks.ghost.nnz() == 0) return;  // one rank has no ghosts
  const auto steps = op.statistics().steps;
  const auto is_ghost = [](const BuildStep& step) { return step.name.starts_with("ghost: "); };
  EXPECT_NE(std::find_if(steps.begin(), steps.end(), is_ghost), steps.end()) << "dasp has steps";
}

TEST(OrderedOperator, MultipliesInItsOwnOrderWithTheBitsOfTheCallers) {
  const CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto ordered = shuffled(matrix);
  HostOperator op(matrix, "csr", {.ordered = ordered});
  const Array<double> x = test::own_part(*matrix, test::random_vector<double>(a.cols, 5));
  Array<double> y(x.size()), px(x.size()), py(x.size()), back(x.size());
  op.multiply(x, y);
  permute<double>(x, ordered->order(), px);
  op.multiply_in_order(px, py);
  permute_back<double>(py, ordered->order(), back);
  EXPECT_TRUE(std::equal(y.begin(), y.end(), back.begin()));
  permute_back<double>(px, ordered->order(), back);
  EXPECT_TRUE(x.empty() || std::memcmp(x.data(), back.data(), x.size() * sizeof(double)) == 0)
      << "P^T P x";
}

TEST(OrderedOperator, TakesNewValues) {
  const CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto ordered = shuffled(matrix);
  HostOperator op(matrix, "dasp", {.ordered = ordered}), other(matrix, "csr", {.ordered = ordered});
  CsrMatrix<double> updated = a;
  updated.values = test::random_vector<double>(a.nnz(), 99);
  op.update_values(
      test::slab_of(updated, matrix->first_row(), matrix->first_row() + matrix->local_rows())
          .local.values);
  expect_product(op, updated);
  other.refresh_values();
  expect_product(other, updated);

  updated.values = test::random_vector<double>(a.nnz(), 98);
  matrix->replace_values(
      test::slab_of(updated, matrix->first_row(), matrix->first_row() + matrix->local_rows())
          .local.values);
  HostOperator later(matrix, "csr", {.ordered = ordered});
  expect_product(later, updated);
}

TEST(OrderedOperator, KnowsWhatMixedPrecisionTakesFromEachOfItsRows) {
  const CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto ordered = shuffled(matrix);
  HostOperator op(matrix, "csr", {.precision = Precision::mixed, .ordered = ordered});
  HostOperator callers(matrix, "csr", Precision::mixed);
  ASSERT_TRUE(op.inexact());
  EXPECT_TRUE(std::ranges::equal(op.row_defect(), callers.row_defect()));
  const auto in_order = op.row_defect_in_order();
  ASSERT_EQ(std::ssize(in_order), matrix->local_rows());
  for (std::size_t i = 0; i < in_order.size(); ++i)
    ASSERT_EQ(in_order[i], op.row_defect()[ordered->order()[i]]);
  expect_product(op, test::rounded_to_float(a));
  const Array<double> x = test::own_part(*matrix, test::random_vector<double>(a.cols, 5));
  Array<double> exact(x.size()), of_callers(x.size());
  op.multiply_exactly(x, exact);
  callers.multiply_exactly(x, of_callers);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(exact[i], of_callers[i], 1e-12);
}

TEST(OrderedOperator, RefusesWhatIsNoOrderOfItsRows) {
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("SmallAndDense"),
                                      Cut::by_nonzeros);
  const auto of_rows = [&](Array<std::int32_t> order) {
    return std::make_shared<OrderedMatrix>(matrix, Ordering::rcm, std::move(order));
  };
  const auto rows = static_cast<std::int32_t>(matrix->local_rows());
  ASSERT_GE(rows, 2);
  EXPECT_THROW(of_rows(test::random_order(rows - 1)), Error);
  EXPECT_THROW(of_rows(Array<std::int32_t>(rows, 0)), Error);
  Array<std::int32_t> beyond = test::random_order(rows);
  beyond.back() = rows;
  EXPECT_THROW(of_rows(beyond), Error);

  const auto other = matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("SmallAndDense"),
                                     Cut::by_nonzeros);
  EXPECT_THROW(HostOperator(other, "csr", {.ordered = shuffled(matrix)}), Error);
}

}  // namespace
}  // namespace trireme
