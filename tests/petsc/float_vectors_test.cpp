// SPDX-License-Identifier: BSD-3-Clause
// Loops with FP32 vectors over a Mat of Trireme on CPUs. Run on 1, 2, 3 and 5 ranks.
#include <gtest/gtest.h>
#include <petscmat.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distributed/host_operator.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/mat/mat_system.hpp"
#include "solvers/methods/correction.hpp"
#include "solvers/solves.hpp"
#include "support/permuted_csr.hpp"
#include "support/petsc_environment.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using solvers::Method;
using solvers::Variant;
using test::Cut;
using test::matrix_on_ranks;

// Counts the products in FP32.
class CountingSystem : public MatSystem {
 public:
  using MatSystem::MatSystem;
  void multiply_floats(std::span<const float> x, std::span<float> y) override {
    ++products;
    MatSystem::multiply_floats(x, y);
  }
  std::int64_t products = 0;
};

struct Outcome {
  std::int64_t iterations = 0;
  double residual = 0;        // ||b - A x|| / ||b|| over all ranks, by the FP64 values
  std::int64_t products = 0;  // in FP32
  bool takes_floats = false;
};

struct Problem {
  std::string name;
  CsrMatrix<double> matrix;
};

struct How {
  Method method = Method::cg;
  Variant variant = Variant::classic;
  const char* kernel = "csr";
  Cut cut = Cut::by_nonzeros;
  bool ordered = false;
  bool same_bits = false;
};

Outcome solve(const Problem& problem, Precision precision, const How& how) {
  const CsrMatrix<double>& a = problem.matrix;
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, a, how.cut);
  const std::int64_t rows = matrix->local_rows();
  OperatorOptions options{.precision = precision, .same_bits_for_any_threads = how.same_bits};
  if (how.ordered)
    options.ordered =
        std::make_shared<OrderedMatrix>(matrix, Ordering::cluster, test::random_order(rows));
  const auto op = std::make_shared<HostOperator>(matrix, how.kernel, options);
  const MatHandle shell = make_shell(op);
  CountingSystem system(shell, op, nullptr);
  Array<double> diagonal(rows), ax(rows);
  const Array<double> b = test::own_part(*matrix, test::random_vector<double>(a.rows, 4));
  matrix->diagonal(diagonal);
  test::Options of_solve;
  of_solve.method = how.method;
  of_solve.variant = how.variant;
  of_solve.preconditioner = test::jacobi(diagonal);
  of_solve.rule.rtol = 1e-8;
  const test::Solved solved = test::solve(system, b, of_solve);
  EXPECT_EQ(solved.outcome.reason, solvers::Reason::rtol);
  op->multiply_exactly(solved.x, ax);
  double sums[2] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    sums[0] += (b[i] - ax[i]) * (b[i] - ax[i]);
    sums[1] += b[i] * b[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {solved.outcome.iterations, std::sqrt(sums[0] / sums[1]), system.products,
          system.takes_floats()};
}

CsrMatrix<double> third_of(CsrMatrix<double> a) {
  for (double& value : a.values) value /= 3;  // no FP32 numbers
  return a;
}

// Values that FP32 does not hold, and values that it holds.
std::vector<Problem> problems(double wind) {
  return {{"jumps", third_of(test::grid_matrix(60, wind, 100))},
          {"smooth", third_of(test::grid_matrix(90, wind))},
          {"exact", test::grid_matrix(70, wind)},
          {"irregular", third_of(test::irregular_matrix(1500, wind > 0 ? 0.1 : 0))}};
}

void expect_as_in_fp64(const Problem& problem, const How& how, double most,
                       bool counts_products = true) {
  SCOPED_TRACE(problem.name + ", " + how.kernel);
  const Outcome fp32 = solve(problem, Precision::mixed, how);
  const Outcome fp64 = solve(problem, Precision::full, how);
  EXPECT_TRUE(fp32.takes_floats);
  if (counts_products) {
    EXPECT_GE(fp32.products, fp32.iterations * 9 / 10) << "of " << fp32.iterations;
  }
  EXPECT_FALSE(fp64.takes_floats);
  EXPECT_EQ(fp64.products, 0);
  EXPECT_LE(fp32.residual, 1.0001e-8);
  // Each of some five corrections may cost an iteration, which counts where there are few of them.
  EXPECT_LE(static_cast<double>(fp32.iterations), most * static_cast<double>(fp64.iterations) + 6)
      << "in FP64: " << fp64.iterations;
}

TEST(FloatVectors, CgConvergesAsInFp64) {
  for (const Problem& problem : problems(0))
    for (const char* kernel : {"csr", "albus"})
      for (const Cut cut : {Cut::by_nonzeros, Cut::first_rank_empty})
        expect_as_in_fp64(problem, {.kernel = kernel, .cut = cut}, 1.06);
}

TEST(FloatVectors, CgConvergesInTheOrderOfTheKernels) {
  for (const Problem& problem : problems(0)) expect_as_in_fp64(problem, {.ordered = true}, 1.06);
}

// Which variant that is depends on the number of processes. One with a single reduction rounds
// more numbers per iteration.
TEST(FloatVectors, CgConvergesInTheVariantThatItChooses) {
  for (const Problem& problem : problems(0))
    expect_as_in_fp64(problem, {.variant = Variant::automatic}, 1.2, false);
}

TEST(FloatVectors, BicgstabConverges) {
  for (const Problem& problem : problems(0.5))
    expect_as_in_fp64(problem, {.method = Method::bicgstab, .variant = Variant::automatic}, 1.4);
}

TEST(FloatVectors, AreNotForAMatOfPetsc) {
  MatHandle a;
  petsc_check(MatCreateAIJ(PETSC_COMM_WORLD, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 0,
                           nullptr, a.put()));
  MatSystem system(a, nullptr, nullptr);
  EXPECT_FALSE(system.takes_floats());
  system.prepare_floats();
  EXPECT_FALSE(system.takes_floats());
}

TEST(FloatVectors, AreNotForAnOperatorThatHasNoSuchProduct) {
  const Problem problem{"grid", third_of(test::grid_matrix(20))};
  const Outcome fixed = solve(problem, Precision::mixed, {.kernel = "albus", .same_bits = true});
  EXPECT_FALSE(fixed.takes_floats);
  EXPECT_EQ(fixed.products, 0);
  EXPECT_LE(fixed.residual, 1.0001e-8);
}

TEST(FloatVectors, OneKernelOfFp32ServesASystemOfOneProcess) {
  const CsrMatrix<double> a = third_of(test::grid_matrix(60));
  const CsrMatrix<double> rounded = test::rounded_to_float(a);
  const Array<float> values(rounded.values.begin(), rounded.values.end());
  const auto exact = build_host_kernel<double>("csr", a.view());
  const auto of_rounded = build_host_kernel<double>("csr", rounded.view());
  const auto in_fp32 =
      build_host_kernel<float>("csr", CsrView<float>{a.rows, a.cols, a.row_ptr, a.col_idx, values});
  const Array<float> defect = test::row_defect(a);
  solvers::HostKernelSystem without(*of_rounded, a.rows, exact.get(), defect);
  EXPECT_FALSE(without.takes_floats());
  solvers::HostKernelSystem system(*of_rounded, a.rows, exact.get(), defect, in_fp32.get());
  EXPECT_TRUE(system.takes_floats());
  const Array<double> diagonal = test::diagonal_of(a), b = test::random_vector<double>(a.rows);
  test::Options how;
  how.variant = Variant::classic;
  how.preconditioner = test::jacobi(diagonal);
  how.rule.rtol = 1e-8;
  const test::Solved in_fp64 = test::solve(a, b, how), solved = test::solve(system, b, how);
  EXPECT_LE(test::relative_residual(a, b, solved.x), 1.0001e-8);
  EXPECT_LE(static_cast<double>(solved.outcome.iterations),
            1.06 * static_cast<double>(in_fp64.outcome.iterations) + 1);
}

// 1 + 2^-24 is not an FP32 number: half of the last place, which goes to the even neighbour, 1.
TEST(FloatVectors, TheRowDefectIsAddedInFp64AndRoundedOnce) {
  const Array<float> defect{0x1p-24F, 0x1.8p-24F, -0.5F}, x{1, 1, 3};
  Array<float> y{1, 1, 2}, again = y;
  const auto run = [&](const auto& pass, double* sums) {
    for (std::int64_t i = 0; i < 3; ++i) {
      auto row = pass.load(i);
      pass.update(row, solvers::State{}, sums);
      pass.store(i, row);
    }
  };
  double sum = 0;
  run(solvers::CompensateOf<float>{defect.data(), x.data(), y.data()}, nullptr);
  EXPECT_EQ(y, (Array<float>{1, 1 + 0x1p-23F, 0.5F}));
  run(solvers::CompensateAndDotOf<float>{{defect.data(), x.data(), again.data()}}, &sum);
  EXPECT_EQ(again, y);
  EXPECT_EQ(sum, 1 + (1 + 0x1p-23) + 1.5) << "of the y that is stored";
}

}  // namespace
}  // namespace trireme
