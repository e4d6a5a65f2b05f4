// SPDX-License-Identifier: BSD-3-Clause
// Products of operators on CPUs with FP32 vectors, and the halo in FP32. Run on 1, 2, 3 and 5
// ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "sparse/row_blocks.hpp"
#include "support/limited_memory.hpp"
#include "support/permuted_csr.hpp"
#include "support/square_shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

// The kernels that mixed precision has on CPUs.
std::vector<std::string> mixed_kernels() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_mixed) names.emplace_back(entry.name);
  return names;
}

// `scale` makes values that FP32 does not hold, or leaves those that it does.
std::vector<test::Shape<double>> matrices(double scale) {
  std::vector<test::Shape<double>> all;
  for (auto& [name, matrix] : test::square_shapes()) all.push_back({name, std::move(matrix)});
  for (test::Shape<double>& shape : all)
    for (double& value : shape.matrix.values)
      value = scale == 1 ? static_cast<double>(static_cast<float>(value)) : value * scale;
  return all;
}

// Two rows, so that most ranks have none.
CsrMatrix<double> two_rows() {
  CsrMatrix<double> a;
  a.rows = a.cols = 2;
  a.row_ptr = {0, 2, 4};
  a.col_idx = {0, 1, 0, 1};
  a.values = {0.1, -0.7, 0.3, 1.9};
  return a;
}

CsrMatrix<double> own_rows(const CsrMatrix<double>& a, const DistributedMatrix& matrix) {
  return test::slab_of(a, matrix.first_row(), matrix.first_row() + matrix.local_rows()).local;
}

// y = A x by the operator's FP32 product, in the caller's order.
Array<float> fp32_product(HostOperator& op, const Array<float>& x) {
  const DistributedMatrix& matrix = op.matrix();
  const std::int64_t rows = matrix.local_rows();
  Array<float> mine(x.begin() + matrix.first_row(), x.begin() + matrix.first_row() + rows);
  Array<float> y = test::poisoned_vector<float>(rows);
  if (!op.ordered()) {
    op.multiply_floats_in_order(mine, y);
    return y;
  }
  const std::span<const std::int32_t> order = op.ordered()->order();
  Array<float> in_order(rows), result(rows);
  for (std::int64_t i = 0; i < rows; ++i) in_order[i] = mine[order[i]];
  op.multiply_floats_in_order(in_order, y);
  for (std::int64_t i = 0; i < rows; ++i) result[order[i]] = y[i];
  return result;
}

// Judges the local rows of y = A32 x by the kernels' bound, which is 0 for a row without terms.
// For rows of a few terms the bound is 4 epsilon: each block is summed and rounded.
void expect_fp32_product(HostOperator& op, const CsrMatrix<double>& a, bool short_rows = false) {
  const Array<float> x = test::random_vector<float>(a.cols, 11);
  const Array<float> y = fp32_product(op, x);
  const CsrMatrix<double> rows = own_rows(a, op.matrix());
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    double sum = 0, size = 0;
    const std::int32_t first = rows.row_ptr[row], last = rows.row_ptr[row + 1];
    for (std::int32_t k = first; k < last; ++k) {
      const double term = double{static_cast<float>(rows.values[k])} * double{x[rows.col_idx[k]]};
      sum += term;
      size += std::abs(term);
    }
    const double terms = short_rows ? 4 : std::max(4, last - first);
    ASSERT_LE(std::abs(double{y[row]} - sum), terms * kEpsilon * size)
        << "row " << op.matrix().first_row() + row << " is " << y[row];
  }
}

TEST(FloatOperator, MultipliesByTheRoundedMatrixForEveryKernelMatrixAndCut) {
  for (const double scale : {1.0, 1.0 / 3})
    for (const test::Shape<double>& a : matrices(scale))
      for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty})
        for (const std::string& kernel : mixed_kernels()) {
          SCOPED_TRACE(a.name + ", " + kernel);
          HostOperator op(matrix_on_ranks(MPI_COMM_WORLD, a.matrix, cut), kernel, Precision::mixed);
          ASSERT_TRUE(op.takes_floats());
          op.prepare_floats();
          ASSERT_TRUE(op.takes_floats());
          expect_fp32_product(op, a.matrix);
          const Array<float> x = test::random_vector<float>(a.matrix.cols, 5);
          const Array<float> first = fp32_product(op, x), second = fp32_product(op, x);
          EXPECT_TRUE(first.empty() ||
                      std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) == 0);
          EXPECT_EQ(op.times().count(), 3);
        }
}

TEST(FloatOperator, ServesRanksWithoutRows) {
  for (const std::string& kernel : mixed_kernels()) {
    HostOperator op(matrix_on_ranks(MPI_COMM_WORLD, two_rows(), Cut::by_nonzeros), kernel,
                    Precision::mixed);
    op.prepare_floats();
    op.prepare_floats();  // does nothing
    expect_fp32_product(op, two_rows(), true);
  }
}

std::span<const double> own_values(const CsrMatrix<double>& a, const DistributedMatrix& matrix) {
  const std::int64_t first = matrix.first_row(), last = first + matrix.local_rows();
  return std::span(a.values).subspan(a.row_ptr[first], a.row_ptr[last] - a.row_ptr[first]);
}

TEST(FloatOperator, TakesNewValuesInBothBlocks) {
  for (const std::string& kernel : mixed_kernels())
    for (const bool in_order : {false, true}) {
      SCOPED_TRACE(kernel + (in_order ? ", ordered" : ""));
      CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
      const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
      OperatorOptions options{.precision = Precision::mixed};
      if (in_order)
        options.ordered = std::make_shared<OrderedMatrix>(matrix, Ordering::cluster,
                                                          test::random_order(matrix->local_rows()));
      HostOperator op(matrix, kernel, options), other(matrix, kernel, options);
      for (HostOperator* one : {&op, &other}) {
        one->prepare_floats();
        expect_fp32_product(*one, a);
      }
      a.values = test::random_vector<double>(a.nnz(), 99);
      op.update_values(own_values(a, *matrix));
      expect_fp32_product(op, a);
      other.refresh_values();
      expect_fp32_product(other, a);
    }
}

TEST(FloatOperator, MultipliesInTheOrderOfItsKernels) {
  for (const auto& [name, a] : test::square_shapes()) {
    SCOPED_TRACE(name);
    const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
    for (const Ordering ordering : {Ordering::rcm, Ordering::cluster}) {
      HostOperator op(matrix, "csr",
                      {.precision = Precision::mixed, .ordered = order_matrix(matrix, ordering)});
      op.prepare_floats();
      ASSERT_TRUE(op.takes_floats());
      expect_fp32_product(op, a);
    }
  }
}

struct Parts : Operator::ProductObserver {
  std::vector<Part> begun;
  void begin(Part part) override { begun.push_back(part); }
  void end(Part part) override { EXPECT_EQ(begun.back(), part); }
};

TEST(FloatOperator, TellsItsObserverTheParts) {
  const CsrMatrix<double> a = test::contract_shape<double>("RowsOf5");
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  HostOperator op(matrix, "csr", Precision::mixed);
  op.prepare_floats();
  Parts in_fp32, in_fp64;
  op.observe(&in_fp32);
  fp32_product(op, test::random_vector<float>(a.cols, 5));
  op.observe(&in_fp64);
  const Array<double> x(matrix->local_rows(), 1.0);
  Array<double> y(matrix->local_rows());
  op.multiply(x, y);
  op.observe(nullptr);
  EXPECT_EQ(in_fp32.begun, in_fp64.begun);
  EXPECT_FALSE(in_fp32.begun.empty());
}

TEST(FloatOperator, IsThereInMixedPrecisionOnly) {
  const auto matrix =
      matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("RowsOf5"), Cut::by_nonzeros);
  HostOperator full(matrix, "csr");
  EXPECT_FALSE(full.takes_floats());
  full.prepare_floats();
  EXPECT_FALSE(full.takes_floats());
}

TEST(FloatOperator, HasTheSameBitsForAnyThreadsWhereThatIsAsked) {
  const auto matrix =
      matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("RowsOf5"), Cut::by_nonzeros);
  const auto takes_floats = [&](const char* kernel, const char* ghost_kernel) {
    return HostOperator(matrix, kernel,
                        {.precision = Precision::mixed,
                         .ghost_kernel = ghost_kernel,
                         .same_bits_for_any_threads = true})
        .takes_floats();
  };
  EXPECT_TRUE(takes_floats("csr", "csr"));
  EXPECT_FALSE(takes_floats("albus", "csr"));
  EXPECT_EQ(takes_floats("csr", "albus"), size_of(MPI_COMM_WORLD) == 1) << "one rank has no ghosts";
}

// One rank has two blocks of rows.
TEST(FloatOperator, NeedsOneBlockOfRowsOnEveryRank) {
  const auto matrix =
      matrix_on_ranks(MPI_COMM_WORLD, test::contract_shape<double>("RowsOf5"), Cut::by_nonzeros);
  if (rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1) {
    CsrMatrix<double>& local = matrix->blocks.local;
    cut_again(local, std::max<std::int64_t>(local.nnz() / 2, 5));
    ASSERT_FALSE(local.cuts.empty());
    CsrMatrix<double>& ghost = matrix->blocks.ghost;
    if (ghost.nnz() > 0) {  // the same cuts
      std::vector<std::int64_t> starts{0};
      for (std::int64_t row = 0; row < ghost.rows; ++row)
        starts.push_back(ghost.row_begin(row + 1));
      ghost.cuts = local.cuts;
      ghost.row_ptr.assign(1, 0);
      std::int64_t before = 0;
      for (std::int64_t row = 0, block = 0; row < ghost.rows; ++row) {
        if (block < std::ssize(ghost.cuts) && row == ghost.cuts[block]) {
          before = starts[row];
          ghost.row_ptr.push_back(0);
          ++block;
        }
        ghost.row_ptr.push_back(static_cast<std::int32_t>(starts[row + 1] - before));
      }
    }
  }
  HostOperator op(matrix, "csr", Precision::mixed);
  EXPECT_FALSE(op.takes_floats());
  op.prepare_floats();
  EXPECT_FALSE(op.takes_floats());
}

// A diagonal matrix on the last rank. Its FP32 values are more than malloc takes from its heap.
TEST(FloatOperator, IsGivenUpOnEveryRankWhereOneHasNoMemoryForIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer ends a program that asks for too much memory";
#endif
  constexpr std::int32_t kRows = 9'000'000;
  const int ranks = size_of(MPI_COMM_WORLD);
  const bool last = rank_of(MPI_COMM_WORLD) == ranks - 1;
  RowSlab slab{.global_rows = kRows, .global_cols = kRows, .global_nnz = kRows};
  slab.local.cols = kRows;
  if (last) {
    slab.local.rows = kRows;
    slab.local.row_ptr.resize(kRows + 1);
    slab.local.col_idx.resize(kRows);
    for (std::int32_t row = 0; row < kRows; ++row)
      slab.local.row_ptr[row] = slab.local.col_idx[row] = row;
    slab.local.row_ptr[kRows] = kRows;
    slab.local.values.assign(kRows, 0.5);
  }
  std::vector<std::int64_t> starts(ranks + 1, 0);
  starts.back() = kRows;
  HostOperator op(distribute(MPI_COMM_WORLD, std::move(slab), std::move(starts)), "csr",
                  Precision::mixed);
  ASSERT_TRUE(op.takes_floats());
  {
    std::optional<test::LimitedMemory> limit;
    if (last) limit.emplace(std::size_t{4} << 20);
    op.prepare_floats();
  }
  EXPECT_FALSE(op.takes_floats());
}

// Each entry has two numbers. The halo is that of a matrix whose rows reach far.
TEST(HaloExchange, MovesFloatsBothWays) {
  const CsrMatrix<double> a = test::contract_shape<double>("EveryLengthTo600");
  for (const Cut cut : {Cut::by_nonzeros, Cut::first_rank_empty}) {
    const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, cut);
    const HaloPlan& plan = matrix->halo;
    const Array<std::int64_t>& columns = matrix->blocks.ghost_columns;
    Array<float> packed(plan.send_rows.size() * 2), ghosts(columns.size() * 2, -1.0F);
    const auto number = [](std::int64_t row) { return static_cast<float>(row) + 0.25F; };
    for (std::size_t k = 0; k < plan.send_rows.size(); ++k) {
      packed[2 * k] = number(matrix->first_row() + plan.send_rows[k]);
      packed[2 * k + 1] = -packed[2 * k];
    }
    HaloExchange exchange(MPI_COMM_WORLD, plan, packed, ghosts, 2);
    exchange.begin();
    exchange.end();
    for (std::size_t k = 0; k < columns.size(); ++k) {
      ASSERT_EQ(ghosts[2 * k], number(columns[k]));
      ASSERT_EQ(ghosts[2 * k + 1], -number(columns[k]));
      ghosts[2 * k] += 1;
    }
    const Array<float> sent = packed;
    exchange.begin_reverse();
    exchange.end_reverse();
    for (std::size_t k = 0; k < sent.size(); ++k)
      ASSERT_EQ(packed[k], k % 2 == 0 ? sent[k] + 1 : sent[k]);
  }
}

}  // namespace
}  // namespace trireme
