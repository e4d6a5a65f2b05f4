// SPDX-License-Identifier: BSD-3-Clause
// Loops with FP32 vectors reach FP64 accuracy, in nearly as many iterations as loops in FP64.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "solvers/fp32_vectors.hpp"
#include "solvers/pieces.hpp"
#include "sparse/generators.hpp"

namespace trireme::solvers {
namespace {

using test::grid_matrix;
using test::random_vector;
using Kind = PreconditionerSpec::Kind;

CsrMatrix<double> generated(const std::string& kind, std::int64_t n) {
  const GenerateSpec spec = {.kind = kind, .n = n};
  CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
  for (double& value : a.values) value /= 3;  // so that no value is an FP32 number
  return a;
}

// What a preconditioner of `a` is made from.
struct Data {
  explicit Data(const CsrMatrix<double>& a) : diagonal(test::diagonal_of(a)), blocks(a, 4) {}
  PreconditionerSpec spec(Kind kind) const {
    PreconditionerSpec of = kind == Kind::blocks ? blocks.spec : test::jacobi(diagonal);
    of.kind = kind;
    return of;
  }

  Array<double> diagonal;
  test::BlocksOf blocks;
};

struct Both {
  test::Solved in_fp64, in_fp32;
  std::int64_t products = 0;
  double residual = 0;  // of in_fp32
};

Both solve_both(const CsrMatrix<double>& a, const Array<double>& b, test::Options options) {
  const Data data(a);
  options.preconditioner = data.spec(options.preconditioner.kind);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem in_fp64(*kernel, a.rows);
  test::Fp32System in_fp32(*kernel, a);
  Both both{test::solve(in_fp64, b, options), test::solve(in_fp32, b, options)};
  both.products = in_fp32.products;
  both.residual = test::relative_residual(a, b, both.in_fp32.x);
  return both;
}

struct Problem {
  std::string name;
  Method method;
  Kind kind;
  std::function<CsrMatrix<double>()> matrix;
  Variant variant = Variant::classic;
};
void PrintTo(const Problem& p, std::ostream* out) { *out << p.name; }

class Fp32Vectors : public testing::TestWithParam<Problem> {
 protected:
  Fp32Vectors() : a(GetParam().matrix()), b(random_vector<double>(a.rows)) {
    options.method = GetParam().method;
    options.variant = GetParam().variant;
    options.preconditioner.kind = GetParam().kind;
    options.rule.rtol = 1e-8;
  }
  double most() const { return options.method == Method::cg ? 1.10 : 1.25; }

  CsrMatrix<double> a;
  Array<double> b;
  test::Options options;
};

INSTANTIATE_TEST_SUITE_P(
    Problems, Fp32Vectors,
    testing::Values(
        Problem{"Poisson", Method::cg, Kind::none, [] { return generated("poisson3d", 16); }},
        Problem{"Diffusion", Method::cg, Kind::jacobi, [] { return generated("diffusion3d", 14); }},
        Problem{"Contrast", Method::cg, Kind::jacobi, [] { return grid_matrix(40, 0, 1e3 / 3); }},
        Problem{"Blocks", Method::cg, Kind::blocks, [] { return grid_matrix(40, 0, 100 / 3.0); }},
        Problem{"Chebyshev", Method::cg, Kind::chebyshev,
                [] { return grid_matrix(40, 0, 100 / 3.0); }},
        Problem{"DiffusionSingleReduction", Method::cg, Kind::jacobi,
                [] { return generated("diffusion3d", 14); }, Variant::single_reduction},
        Problem{"ContrastSingleReduction", Method::cg, Kind::none,
                [] { return grid_matrix(40, 0, 1e3 / 3); }, Variant::single_reduction},
        Problem{"BlocksSingleReduction", Method::cg, Kind::blocks,
                [] { return grid_matrix(40, 0, 100 / 3.0); }, Variant::single_reduction},
        Problem{"WindBlocks", Method::bicgstab, Kind::blocks,
                [] { return grid_matrix(30, 0.5, 10 / 3.0); }},
        Problem{"Elasticity", Method::cg, Kind::jacobi,
                [] { return generated("elasticity3d", 8); }},
        Problem{"Convection", Method::bicgstab, Kind::jacobi,
                [] { return generated("convection3d", 14); }},
        Problem{"Wind", Method::bicgstab, Kind::none,
                [] { return grid_matrix(30, 0.5, 10 / 3.0); }}),
    [](const auto& problem) { return problem.param.name; });

TEST_P(Fp32Vectors, TakeFewMoreIterations) {
  const Both both = solve_both(a, b, options);
  ASSERT_EQ(both.in_fp64.outcome.reason, Reason::rtol);
  EXPECT_EQ(both.in_fp32.outcome.reason, Reason::rtol);
  EXPECT_EQ(both.in_fp32.outcome.exact_from, -1);
  EXPECT_LE(both.residual, 1.01e-8);
  EXPECT_NEAR(both.residual, both.in_fp32.outcome.norm / test::norm(b), 1e-13);
  EXPECT_GE(both.in_fp32.outcome.replacements, 2);
  EXPECT_GE(both.products, both.in_fp32.outcome.iterations);
  EXPECT_LE(both.in_fp32.outcome.iterations, most() * both.in_fp64.outcome.iterations + 2);
  EXPECT_EQ(both.in_fp32.history.size(),
            static_cast<std::size_t>(both.in_fp32.outcome.iterations) + 1);
}

TEST_P(Fp32Vectors, ReachATightTolerance) {
  options.rule.rtol = 1e-12;
  const Both both = solve_both(a, b, options);
  EXPECT_EQ(both.in_fp32.outcome.reason, Reason::rtol);
  EXPECT_LE(both.residual, 1.01e-12);
}

// The squares of b must stay within the range of FP64; `solve` scales b before.
TEST_P(Fp32Vectors, DoTheSameAtEveryScaleOfTheRightHandSide) {
  options.rule.atol = 0;
  const Both at_one = solve_both(a, b, options);
  for (const int exponent : {-450, -130, 130, 450}) {
    SCOPED_TRACE(exponent);
    Array<double> scaled = b;
    for (double& value : scaled) value = std::ldexp(value, exponent);
    const Both both = solve_both(a, scaled, options);
    EXPECT_EQ(both.in_fp32.outcome.reason, Reason::rtol);
    EXPECT_EQ(both.in_fp32.outcome.iterations, at_one.in_fp32.outcome.iterations);
    for (std::size_t i = 0; i < scaled.size(); ++i)
      ASSERT_EQ(both.in_fp32.x[i], std::ldexp(at_one.in_fp32.x[i], exponent));
  }
}

TEST_P(Fp32Vectors, StartFromAFarGuess) {
  options.x0 = random_vector<double>(a.rows, 5);
  for (double& value : options.x0) value *= 1e9;
  const Both both = solve_both(a, b, options);
  EXPECT_EQ(both.in_fp32.outcome.reason, Reason::rtol);
  EXPECT_LE(both.residual, 1.01e-8);
}

TEST_P(Fp32Vectors, AnswerZero) {
  const Both both = solve_both(a, Array<double>(a.rows, 0.0), options);
  EXPECT_GT(static_cast<int>(both.in_fp32.outcome.reason), 0);
  EXPECT_EQ(test::norm(both.in_fp32.x), 0);
}

TEST_P(Fp32Vectors, GoOnWhereTheyWereStopped) {
  const Data data(a);
  options.preconditioner = data.spec(GetParam().kind);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  test::Fp32System system(*kernel, a);
  const test::Solved whole = test::solve(system, b, options);
  const auto make = [&] {
    return std::make_unique<HostSolver>(system, options.method, options.variant,
                                        options.preconditioner);
  };
  for (const std::int64_t piece : {3, 20}) {
    const test::SolvedInPieces pieces = test::solve_in_pieces(make, b, options, piece);
    EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
    EXPECT_GT(pieces.pieces, 1);
    EXPECT_LE(test::relative_residual(a, b, pieces.x), 1.01e-8);
    EXPECT_LE(pieces.outcome.iterations, whole.outcome.iterations * 5 / 4 + 5);
  }
}

// FP64 takes more memory, which comes before the directions of the stopped solve.
TEST_P(Fp32Vectors, GoOnInFp64WhereTheyWereStoppedThere) {
  if (GetParam().kind == Kind::chebyshev) GTEST_SKIP() << "its bounds are those of FP32";
  const Data data(a);
  const PreconditionerSpec spec = data.spec(GetParam().kind);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem in_fp64(*kernel, a.rows);
  test::Fp32System in_fp32(*kernel, a);
  HostSolver first(in_fp64, options.method, options.variant, spec);
  Array<double> x(a.rows, 0.0);
  first.solve({b, x, true}, {.rtol = 1e-8, .max_iterations = 10});
  StoppedSolve stopped = first.stopped();
  const auto go_on = [&](HostSystem& system, Array<double> from) {
    HostSolver solver(system, options.method, options.variant, spec);
    solver.go_on(stopped);
    EXPECT_EQ(solver.solve({b, from, false}, {.rtol = 1e-8}).reason, Reason::rtol);
    return from;
  };
  const Array<double> expected = go_on(in_fp64, x);
  stopped.exact_from = 0;
  EXPECT_EQ(go_on(in_fp32, x), expected);
}

class Fp32VectorsStepUp : public testing::TestWithParam<Method> {
 protected:
  Fp32VectorsStepUp() {
    options.method = GetParam();
    options.rule.rtol = 1e-6;
  }
  const CsrMatrix<double> a = test::pairs_that_fp32_merges();
  const Array<double> b = random_vector<double>(a.rows);
  test::Options options;
};
INSTANTIATE_TEST_SUITE_P(Methods, Fp32VectorsStepUp, testing::Values(Method::cg, Method::bicgstab),
                         [](const auto& method) {
                           return std::string(info_of(method.param).name);
                         });

TEST_P(Fp32VectorsStepUp, WhereFp32IsTooCoarse) {
  const Both both = solve_both(a, b, options);
  ASSERT_EQ(both.in_fp64.outcome.reason, Reason::rtol);
  EXPECT_EQ(both.in_fp32.outcome.reason, Reason::rtol);
  EXPECT_GE(both.in_fp32.outcome.exact_from, 0);
  EXPECT_LE(both.residual, 1.01e-6);
  EXPECT_NEAR(both.residual, both.in_fp32.outcome.norm / test::norm(b), 0.1 * both.residual);
}

TEST(Fp32VectorsStepUpCg, WhereAValueOverflows) {
  CsrMatrix<double> a = grid_matrix(12);
  for (std::int32_t k = a.row_ptr[5]; k < a.row_ptr[6]; ++k)
    if (a.col_idx[k] == 5) a.values[k] = 1e39;
  test::Options options;
  options.preconditioner.kind = Kind::jacobi;
  const Both both = solve_both(a, random_vector<double>(a.rows), options);
  ASSERT_EQ(both.in_fp64.outcome.reason, Reason::rtol);
  EXPECT_EQ(both.in_fp32.outcome.reason, Reason::rtol);
  EXPECT_LE(both.residual, 1.01e-8);
}

TEST(Fp32VectorsStepUpCg, AfterTooManyIterationsWithoutACorrection) {
  State state;
  state.rule.rtol = 1e-8;
  state.correct_below = kCorrectBelow;
  state.max_uncorrected = kMaxUncorrectedInFp32;
  state.unit = 0.25;
  begin(state, 1.0);
  state.iterations = kMaxUncorrectedInFp32;
  judge(state, 0.5);
  EXPECT_TRUE(gave_up(state));
  go_on_exactly(state);
  EXPECT_EQ(state.unit, 1);
}

TEST(Fp32Units, ArePowersOfTwoNearTheNorm) {
  State state;
  set_unit(state, 5.0);
  EXPECT_EQ(state.unit, 4);
  EXPECT_EQ(state.rescale, 0.25);
  set_unit(state, 0.3);
  EXPECT_EQ(state.unit, 0.25);
  EXPECT_EQ(state.rescale, 16);
  for (const double useless :
       {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    set_unit(state, useless);
    EXPECT_EQ(state.unit, 1);
  }
}

}  // namespace
}  // namespace trireme::solvers
