// SPDX-License-Identifier: BSD-3-Clause
// The block solver of the resident engine over ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "solvers/block_solves.hpp"

namespace trireme {
namespace {

using solvers::Method;
using solvers::Reason;
using solvers::Variant;
using test::Cut;
using test::Options;
using test::Solved;

class OperatorSystem : public solvers::HostSystem {
 public:
  explicit OperatorSystem(HostOperator& op) : op_(op) {}
  std::int64_t rows() const override { return op_.matrix().local_rows(); }
  void multiply(std::span<const double> x, std::span<double> y) override { op_.multiply(x, y); }
  void multi_multiply(MultiVector<const double> x, MultiVector<double> y) override {
    op_.multi_multiply(x, y);
  }
  void multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) override {
    op_.multi_multiply_exactly(x, y);
  }
  void sum(std::span<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  int processes() const override { return size_of(MPI_COMM_WORLD); }

 private:
  HostOperator& op_;
};

std::vector<Array<double>> own_parts(const DistributedMatrix& matrix,
                                     const std::vector<Array<double>>& columns) {
  std::vector<Array<double>> parts;
  for (const Array<double>& column : columns) {
    const auto begin = column.begin() + matrix.first_row();
    parts.emplace_back(begin, begin + matrix.local_rows());
  }
  return parts;
}

// ||b - A x|| / ||b|| over all ranks.
double residual_on_ranks(HostOperator& op, const Array<double>& b, const Array<double>& x) {
  Array<double> ax(b.size());
  op.multiply_exactly(x, ax);
  double sums[2] = {};
  for (std::size_t i = 0; i < b.size(); ++i) {
    sums[0] += (b[i] - ax[i]) * (b[i] - ax[i]);
    sums[1] += b[i] * b[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(sums[0] / sums[1]);
}

void expect_columns_solved(Cut cut, Method method, Variant variant, std::string_view kernel) {
  SCOPED_TRACE(kernel);
  const CsrMatrix<double> a = test::grid_matrix(23, method == Method::bicgstab ? 1 : 0, 10);
  const Array<double> diagonal = test::diagonal_of(a);
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, cut);
  HostOperator op(matrix, kernel);
  OperatorSystem system(op);
  std::vector<Array<double>> b = test::random_columns(a.rows, 9);
  b[3][a.rows / 2] = NAN;
  const std::vector<Array<double>> own_b = own_parts(*matrix, b);
  Options o;
  o.method = method;
  o.variant = variant;
  o.preconditioner =
      test::jacobi(std::span(diagonal).subspan(static_cast<std::size_t>(matrix->first_row()),
                                               static_cast<std::size_t>(matrix->local_rows())));
  const std::vector<Solved> solved = test::solve_block(system, own_b, o);
  for (std::size_t j = 0; j < b.size(); ++j) {
    SCOPED_TRACE(j);
    const Solved alone = test::solve(system, own_b[j], o);
    EXPECT_EQ(solved[j].outcome.reason, alone.outcome.reason);
    EXPECT_EQ(solved[j].outcome.reason, j == 3 ? Reason::not_finite : Reason::rtol);
    if (j == 3) continue;
    // Rounding decides about some iterations, and about more of BiCGSTAB than of CG.
    const double part = method == Method::bicgstab ? 0.5 : 0.1;
    EXPECT_NEAR(static_cast<double>(solved[j].outcome.iterations),
                static_cast<double>(alone.outcome.iterations),
                1 + part * static_cast<double>(alone.outcome.iterations));
    EXPECT_LE(residual_on_ranks(op, own_b[j], solved[j].x), 1.0001e-8);
  }
}

TEST(BlockSolverOnRanks, EachColumnIsSolvedAsItIsAlone) {
  for (const char* kernel : {"csr", "albus"}) {
    expect_columns_solved(Cut::by_nonzeros, Method::cg, Variant::classic, kernel);
    expect_columns_solved(Cut::by_nonzeros, Method::cg, Variant::single_reduction, kernel);
    expect_columns_solved(Cut::by_nonzeros, Method::bicgstab, Variant::classic, kernel);
    expect_columns_solved(Cut::by_nonzeros, Method::minres, Variant::classic, kernel);
  }
}

TEST(BlockSolverOnRanks, ARankMayHaveNoRows) {
  for (const Cut cut : {Cut::all_on_last_rank, Cut::first_rank_empty})
    expect_columns_solved(cut, Method::cg, Variant::automatic, "csr");
}

// A wish of one rank to stop a column stops it on all ranks.
TEST(BlockSolverOnRanks, OneRankStopsAColumnOfAll) {
  const CsrMatrix<double> a = test::grid_matrix(23);
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  HostOperator op(matrix, "csr");
  OperatorSystem system(op);
  solvers::HostBlockSolver solver(system, Method::cg, Variant::automatic, {});
  const std::int64_t rows = matrix->local_rows();
  Array<double> b(2 * rows, 1.0), x(2 * rows);
  std::vector<solvers::IterationObserver> observers(2);
  std::int64_t seen = 0;
  observers[1].iteration = [&](const solvers::State& s, const solvers::Iterate&) {
    seen = s.iterations;
    return Reason::running;
  };
  const bool stops = rank_of(MPI_COMM_WORLD) == 0;
  observers[1].stop = [&] { return stops && seen >= 5; };
  const auto results = solver.solve(side_by_side<const double>(b.data(), rows, 2),
                                    side_by_side(x.data(), rows, 2), true, {}, observers);
  EXPECT_EQ(results[0].reason, Reason::rtol);
  EXPECT_EQ(results[1].reason, Reason::interrupted);
  EXPECT_EQ(results[1].iterations, seen);
}

}  // namespace
}  // namespace trireme
