// SPDX-License-Identifier: BSD-3-Clause
// The resident engine over several ranks with GPUs gives the solution of one process, with the same
// bits each time, by every exchange. The tests skip without a GPU.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "distributed/exchanges.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/nodes.hpp"
#include "petsc/shim.hpp"
#include "solvers/host_kernel_system.hpp"
#include "solvers/solves.hpp"
#include "solvers/systems.hpp"
#include "support/petsc_environment.hpp"
#include "support/random.hpp"

namespace trireme::solvers {
namespace {

using test::Cut;

struct Way {
  Method method;
  Variant variant;
  PreconditionerSpec::Kind preconditioner;
};

// Every algorithm of the list with Jacobi, and CG with the polynomial.
std::vector<Way> ways() {
  std::vector<Way> all{{Method::cg, Variant::classic, PreconditionerSpec::Kind::chebyshev}};
  for_each_algorithm([&](auto entry) {
    all.push_back({entry.method, decltype(entry)::type::variant, PreconditionerSpec::Kind::jacobi});
  });
  return all;
}

class Exchanges : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
    select_device(rank_on_node(MPI_COMM_WORLD));
  }

  // Null if the exchange is not possible here, such as NCCL between ranks that share a GPU.
  std::shared_ptr<CudaOperator> operator_on(const std::shared_ptr<DistributedMatrix>& matrix,
                                            const char* kernel,
                                            Precision precision = Precision::full) {
    try {
      return std::make_shared<CudaOperator>(matrix, kernel, precision,
                                            test::exchange_request(GetParam()));
    } catch (const Error& error) {
      if (error.code() != ExitCode::resource) throw;
      std::printf("%s: %s\n", GetParam().c_str(), error.what());
      return nullptr;
    }
  }

  void expect_the_answer_of_one_process(std::int64_t n, double rtol);
};

// ||b - A x|| / ||b|| over all ranks, computed with the plain CSR on the host.
double relative_residual(const std::shared_ptr<DistributedMatrix>& matrix,
                         std::span<const double> b, std::span<const double> x) {
  HostOperator host(matrix, "csr");
  Array<double> r(b.size());
  host.multiply(x, r);
  double squares[2] = {0, 0};
  for (std::size_t i = 0; i < r.size(); ++i) {
    squares[0] += (b[i] - r[i]) * (b[i] - r[i]);
    squares[1] += b[i] * b[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, squares, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(squares[0] / squares[1]);
}

Array<double> solution_on_one_process(const CsrMatrix<double>& a, std::span<const double> b,
                                      const Way& way, const PreconditionerSpec& spec, double rtol,
                                      std::int64_t& iterations) {
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostSolver solver(system, way.method, way.variant, spec);
  Array<double> x(a.rows);
  iterations = solver.solve({b, x, true}, Tolerances{.rtol = rtol}).iterations;
  return x;
}

void Exchanges::expect_the_answer_of_one_process(std::int64_t n, double rtol) {
  const CsrMatrix<double> spd = test::grid_matrix(n, 0, 50), windy = test::grid_matrix(n, 0.3);
  for (const char* kernel : {"csr-vector", "sell"})
    for (const Way& way : ways()) {
      const CsrMatrix<double>& a = info_of(way.method).symmetric ? spd : windy;
      const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
      const auto op = operator_on(matrix, kernel);
      if (!op) GTEST_SKIP() << "not possible here";
      const Array<double> b = test::random_vector<double>(a.rows, 5);
      const Array<double> diagonal = test::diagonal_of(a);
      PreconditionerSpec spec;
      spec.kind = way.preconditioner;
      spec.diagonal = diagonal;
      std::int64_t expected_iterations = 0;
      const Array<double> expected =
          solution_on_one_process(a, b, way, spec, rtol, expected_iterations);

      const auto first = static_cast<std::size_t>(matrix->first_row());
      const auto rows = static_cast<std::size_t>(matrix->local_rows());
      spec.diagonal = std::span(diagonal).subspan(first, rows);
      CudaOperatorSystem system(op);
      CudaSolver solver(system, way.method, way.variant, spec);
      std::array<Array<double>, 3> solutions;
      for (Array<double>& x : solutions) {
        x = test::poisoned_vector<double>(matrix->local_rows());
        const SolveResult outcome =
            solver.solve({std::span(b).subspan(first, rows), x, true}, Tolerances{.rtol = rtol});
        EXPECT_EQ(outcome.reason, Reason::rtol);
        EXPECT_NEAR(outcome.iterations, expected_iterations, 0.1 * expected_iterations + 3);
      }
      double largest = 0;
      for (const double value : expected) largest = std::max(largest, std::abs(value));
      for (std::size_t i = 0; i < rows; ++i) {
        ASSERT_NEAR(solutions[0][i], expected[first + i], 1e4 * rtol * largest) << i;
        ASSERT_EQ(solutions[0][i], solutions[1][i]);
        ASSERT_EQ(solutions[0][i], solutions[2][i]);
      }
    }
}

TEST_P(Exchanges, GiveTheAnswerOfOneProcess) { expect_the_answer_of_one_process(90, 1e-10); }

// A short test for tools that make a kernel a hundred times slower.
TEST_P(Exchanges, GiveTheAnswerOnASmallGrid) { expect_the_answer_of_one_process(34, 1e-5); }

TEST_P(Exchanges, CorrectMixedPrecision) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one GPU solves a small system in FP64";
  CsrMatrix<double> a = test::grid_matrix(60, 0, 50);
  for (double& value : a.values) value /= 3;  // no value is an FP32 number
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto op = operator_on(matrix, "sell", Precision::mixed);
  if (!op) GTEST_SKIP() << "not possible here";
  ASSERT_TRUE(op->inexact());
  const Array<double> b = test::random_vector<double>(matrix->local_rows(), 5);
  PreconditionerSpec jacobi;
  jacobi.kind = PreconditionerSpec::Kind::jacobi;
  const Array<double> diagonal = test::diagonal_of(a);
  jacobi.diagonal =
      std::span(diagonal).subspan(matrix->first_row(), static_cast<std::size_t>(b.size()));
  CudaOperatorSystem system(op);
  for (const Variant variant : {Variant::classic, Variant::single_reduction}) {
    CudaSolver solver(system, Method::cg, variant, jacobi);
    Array<double> x(b.size());
    const SolveResult outcome = solver.solve({b, x, true}, Tolerances{.rtol = 1e-12});
    EXPECT_EQ(outcome.reason, Reason::rtol);
    EXPECT_EQ(outcome.exact_from, -1);
    EXPECT_GE(outcome.replacements, 3);  // twelve digits, one and a half per correction
    EXPECT_LE(relative_residual(matrix, b, x), 1.01e-12);
    EXPECT_TRUE(solver.vectors_in_fp32());
  }
}

TEST_P(Exchanges, TakeBlocksWhoseWidthDiffersFromRankToRank) {
  const CsrMatrix<double> a = test::grid_matrix(60, 0, 50);
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto op = operator_on(matrix, "csr-vector");
  if (!op) GTEST_SKIP() << "not possible here";
  const std::int32_t width = rank_of(MPI_COMM_WORLD) == 0 ? 3 : 1;
  const std::vector<std::int32_t> groups = test::row_groups(matrix->local_rows(), {width});
  PreconditionerSpec blocks;
  blocks.kind = PreconditionerSpec::Kind::blocks;
  blocks.block_size = 3;
  blocks.group_starts = groups;
  blocks.first_row = matrix->first_row();
  CudaOperatorSystem system(op);
  for (const Method method : {Method::cg, Method::bicgstab}) {
    CudaSolver solver(system, method, Variant::automatic, blocks);
    const Array<double> b = test::random_vector<double>(matrix->local_rows(), 5);
    Array<double> x(b.size());
    EXPECT_EQ(solver.solve({b, x, true}, Tolerances{.rtol = 1e-9}).reason, Reason::rtol);
    EXPECT_LE(relative_residual(matrix, b, x), 1.01e-9);
  }
}

TEST_P(Exchanges, AStopOnOneRankStopsAll) {
  const CsrMatrix<double> a = test::grid_matrix(60, 0, 50);
  const auto matrix = test::matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
  const auto op = operator_on(matrix, "csr-vector");
  if (!op) GTEST_SKIP() << "not possible here";
  CudaOperatorSystem system(op);
  CudaSolver solver(system, Method::cg, Variant::automatic, {});
  const Array<double> b = test::random_vector<double>(matrix->local_rows(), 5);
  Array<double> x(b.size());
  IterationObserver observer;
  const bool last = rank_of(MPI_COMM_WORLD) + 1 == size_of(MPI_COMM_WORLD);
  observer.stop = [&] { return last; };
  const SolveResult outcome = solver.solve(
      {b, x, true}, Tolerances{.rtol = 0, .atol = 0, .max_iterations = 100'000'000}, observer);
  EXPECT_EQ(outcome.reason, Reason::interrupted);
}

INSTANTIATE_TEST_SUITE_P(All, Exchanges, testing::ValuesIn(test::kExchanges),
                         [](const auto& exchange) { return test::name_in_tests(exchange.param); });

}  // namespace
}  // namespace trireme::solvers
