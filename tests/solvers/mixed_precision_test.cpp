// SPDX-License-Identifier: BSD-3-Clause
// Mixed precision in the resident engine: solves with FP32 values reach FP64 accuracy.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "solvers/solves.hpp"
#include "sparse/generators.hpp"

namespace trireme::solvers {
namespace {

using test::from_dense;
using test::grid_matrix;
using test::random_vector;
using Kind = PreconditionerSpec::Kind;

struct MixedOptions : test::Options {
  MixedOptions(Method of = Method::cg, Variant by = Variant::classic, Kind with = Kind::jacobi)
      : kind(with) {
    method = of;
    variant = by;
    rule.rtol = 1e-12;
  }
  Kind kind;
};

struct MixedSolved : test::Solved {
  double residual = 0;  // ||b - A x|| / ||b||, computed without the engine
};

enum class Products { exact, corrected, uncorrected };

MixedSolved solve(const CsrMatrix<double>& a, std::span<const double> b, Products products,
                  MixedOptions options = {}) {
  const auto exact = build_host_kernel<double>("csr", a.view());
  const auto rounded = build_mixed_host_kernel("csr", a.view());
  const Array<float> defect = test::row_defect(a);
  HostKernelSystem system(products == Products::exact ? *exact : *rounded, a.rows,
                          products == Products::corrected ? exact.get() : nullptr, defect);
  const Array<double> diagonal = test::diagonal_of(a);
  const test::BlocksOf blocks(a, 4);
  options.preconditioner = options.kind == Kind::blocks ? blocks.spec : test::jacobi(diagonal);
  options.preconditioner.kind = options.kind;
  MixedSolved solved{test::solve(system, b, options)};
  solved.residual = test::relative_residual(a, b, solved.x);
  return solved;
}

struct MixedCase {
  std::string name;
  MixedOptions options;
};
void PrintTo(const MixedCase& c, std::ostream* out) { *out << c.name; }

class MixedPrecision : public testing::TestWithParam<MixedCase> {
 protected:
  // All values are divided by 3, so that none is an FP32 number.
  CsrMatrix<double> system(std::int64_t n, double contrast) const {
    CsrMatrix<double> a =
        grid_matrix(n, GetParam().options.method == Method::bicgstab ? 0.5 : 0, contrast);
    for (double& value : a.values) value /= 3;
    return a;
  }
};

std::vector<MixedCase> methods() {
  std::vector<MixedCase> all;
  const std::pair<Kind, const char*> kinds[] = {{Kind::none, "None"},
                                                {Kind::jacobi, "Jacobi"},
                                                {Kind::blocks, "Blocks"},
                                                {Kind::chebyshev, "Chebyshev"}};
  for (const auto& [kind, name] : kinds) {
    all.push_back(
        {std::string("ClassicCg") + name, MixedOptions(Method::cg, Variant::classic, kind)});
    all.push_back({std::string("SingleReductionCg") + name,
                   MixedOptions(Method::cg, Variant::single_reduction, kind)});
    if (kind != Kind::chebyshev)
      all.push_back(
          {std::string("Bicgstab") + name, MixedOptions(Method::bicgstab, Variant::classic, kind)});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Methods, MixedPrecision, testing::ValuesIn(methods()),
                         [](const auto& method) { return method.param.name; });

TEST_P(MixedPrecision, ReachesTheToleranceByTheTrueResidual) {
  const CsrMatrix<double> a = system(40, 100);
  const Array<double> b = random_vector<double>(a.rows);
  const MixedSolved full = solve(a, b, Products::exact, GetParam().options);
  const MixedSolved mixed = solve(a, b, Products::corrected, GetParam().options);
  ASSERT_EQ(full.outcome.reason, Reason::rtol);
  EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
  EXPECT_LE(mixed.residual, 1.01e-12);
  EXPECT_NEAR(mixed.residual, mixed.outcome.norm / test::norm(b), 1e-14);
  EXPECT_EQ(mixed.outcome.exact_from, -1);
  EXPECT_GE(mixed.outcome.replacements, 3);  // twelve digits, one and a half per correction
  EXPECT_LE(mixed.outcome.replacements, 12);
  EXPECT_EQ(mixed.history.size(), static_cast<std::size_t>(mixed.outcome.iterations) + 1);
  if (GetParam().options.method == Method::cg)
    EXPECT_LE(mixed.outcome.iterations, 1.15 * full.outcome.iterations);
  else
    EXPECT_LE(mixed.outcome.iterations, 1.5 * full.outcome.iterations + 2);
}

TEST_P(MixedPrecision, WouldMissTheToleranceWithoutCorrections) {
  const CsrMatrix<double> a = system(40, 100);
  const Array<double> b = random_vector<double>(a.rows);
  EXPECT_GE(solve(a, b, Products::uncorrected, GetParam().options).residual, 1e-9);
}

TEST_P(MixedPrecision, StartsFromAGuessAndGivesTheSameBitsAgain) {
  const CsrMatrix<double> a = system(30, 10);
  const Array<double> b = random_vector<double>(a.rows);
  MixedOptions options = GetParam().options;
  options.x0 = random_vector<double>(a.rows, 5);
  const MixedSolved once = solve(a, b, Products::corrected, options);
  const MixedSolved twice = solve(a, b, Products::corrected, options);
  EXPECT_EQ(once.outcome.reason, Reason::rtol);
  EXPECT_LE(once.residual, 1.01e-12);
  EXPECT_EQ(once.x, twice.x);
}

TEST_P(MixedPrecision, AnswersARightHandSideOfZero) {
  const CsrMatrix<double> a = system(10, 10);
  const Array<double> b(a.rows, 0.0);
  const MixedSolved solved = solve(a, b, Products::corrected, GetParam().options);
  EXPECT_GT(static_cast<int>(solved.outcome.reason), 0);
  EXPECT_EQ(test::norm(solved.x), 0);
}

TEST(MixedPrecisionCg, SolvesElasticityWithALargeContrast) {
  const GenerateSpec spec = {.kind = "elasticity3d", .n = 8};
  CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
  // D A D with D from 1e-2 to 1e2 has a contrast of 1e8 between rows, which Jacobi does not undo
  // exactly.
  const auto scale = [](std::int64_t i) { return std::pow(10.0, (i * 37 % 9 - 4) / 2.0) / 3; };
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      a.values[k] *= scale(i) * scale(a.col_idx[k]);
  const Array<double> b = test::times(a, random_vector<double>(a.rows));
  for (const Variant variant : {Variant::classic, Variant::single_reduction}) {
    MixedOptions options;
    options.variant = variant;
    const MixedSolved full = solve(a, b, Products::exact, options);
    const MixedSolved mixed = solve(a, b, Products::corrected, options);
    ASSERT_EQ(full.outcome.reason, Reason::rtol);
    EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
    EXPECT_LE(mixed.residual, 1.01e-12);
    EXPECT_LE(mixed.outcome.iterations, 1.7 * full.outcome.iterations);
    EXPECT_GE(solve(a, b, Products::uncorrected, options).residual, 1e-9);
  }
}

TEST(MixedPrecisionCg, GoesOnInFp64IfFp32IsTooCoarse) {
  const CsrMatrix<double> a = test::pairs_that_fp32_merges();
  const Array<double> b = random_vector<double>(a.rows);
  for (const Variant variant : {Variant::classic, Variant::single_reduction}) {
    MixedOptions options;
    options.variant = variant;
    options.rule.rtol = 1e-6;
    ASSERT_EQ(solve(a, b, Products::exact, options).outcome.reason, Reason::rtol);
    const MixedSolved mixed = solve(a, b, Products::corrected, options);
    EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
    EXPECT_LE(mixed.residual, 1.01e-6);
    EXPECT_GE(mixed.outcome.exact_from, 0);
    EXPECT_EQ(mixed.history.size(), static_cast<std::size_t>(mixed.outcome.iterations) + 1);
  }
}

// S A S with S from 1e-15 to 1e15, and values from 1e-30 to 1e30. What rounding takes from a large
// value is huge beside the small diagonal entry of its row.
TEST(MixedPrecisionCg, ChebyshevGoesOnInFp64WhereNoBoundsAreFoundInFp32) {
  CsrMatrix<double> a = grid_matrix(12);
  const auto scale = [](std::int64_t row) {
    return std::pow(10.0, static_cast<double>(row * 7 % 31) - 15) / 3;
  };
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      a.values[k] *= scale(i) * scale(a.col_idx[k]);
  Array<double> b(a.rows);
  build_host_kernel<double>("csr", a.view())
      ->multiply(random_vector<double>(a.rows), b, Accumulate::no);
  for (const Kind kind : {Kind::jacobi, Kind::chebyshev}) {
    MixedOptions options(Method::cg, Variant::classic, kind);
    options.rule.rtol = 1e-6;
    const MixedSolved exact = solve(a, b, Products::exact, options);
    EXPECT_EQ(exact.outcome.reason, Reason::rtol);
    const MixedSolved mixed = solve(a, b, Products::corrected, options);
    EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
    EXPECT_GE(mixed.outcome.exact_from, 0);
    EXPECT_LE(mixed.residual, 1.01e-6);
  }
}

// A value that FP32 has as infinity.
TEST(MixedPrecisionCg, GoesOnInFp64WhereFp32Overflows) {
  CsrMatrix<double> a = grid_matrix(12);
  for (std::int32_t k = a.row_ptr[5]; k < a.row_ptr[6]; ++k)
    if (a.col_idx[k] == 5) a.values[k] = 1e39;
  Array<double> b = random_vector<double>(a.rows);
  for (const Kind kind : {Kind::jacobi, Kind::chebyshev}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const MixedOptions options(Method::cg, Variant::classic, kind);
    ASSERT_EQ(solve(a, b, Products::exact, options).outcome.reason, Reason::rtol);
    const MixedSolved mixed = solve(a, b, Products::corrected, options);
    EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
    EXPECT_LE(mixed.residual, 1.01e-12);
  }
}

TEST(MixedPrecisionCg, GivesUpOnFp32AfterTooManyIterationsWithoutACorrection) {
  State state;
  state.rule.rtol = 1e-8;
  state.correct_below = kCorrectBelow;
  begin(state, 1.0);
  state.iterations = kMaxUncorrected - 1;
  judge(state, 0.5);
  EXPECT_TRUE(running(state));
  ++state.iterations;
  judge(state, 0.5);
  EXPECT_FALSE(running(state));
  EXPECT_FALSE(needs_true_residual(state));
  EXPECT_TRUE(gave_up(state));
  EXPECT_FALSE(go_on_exactly(state));  // the solve continues from the current x
  judge(state, 0.5);
  EXPECT_TRUE(running(state));
}

// A correction costs MINRES its Lanczos vectors. Where the matrix is indefinite, it begins with
// another plateau then.
TEST(MixedPrecisionMinres, IsNotCorrectedBeforeAClaim) {
  CsrMatrix<double> a = grid_matrix(40);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      a.values[k] = (a.values[k] - (a.col_idx[k] == i ? 0.3 : 0)) / 3;
  MixedOptions options(Method::minres);
  options.rule.rtol = 1e-8;
  // For a random b, x is so large that the first claim does not hold.
  const Array<double> any = random_vector<double>(a.rows);
  const std::pair<Array<double>, double> sides[] = {{test::times(a, any), 1.1}, {any, 1.8}};
  for (const auto& [b, most] : sides) {
    const MixedSolved full = solve(a, b, Products::exact, options);
    const MixedSolved mixed = solve(a, b, Products::corrected, options);
    ASSERT_EQ(full.outcome.reason, Reason::rtol);
    EXPECT_EQ(mixed.outcome.reason, Reason::rtol);
    EXPECT_LE(mixed.residual, 1.01e-8);
    EXPECT_EQ(mixed.outcome.exact_from, -1);
    EXPECT_LE(mixed.outcome.replacements, 1);
    EXPECT_LE(mixed.outcome.iterations, most * full.outcome.iterations);
  }
}

TEST(MixedPrecisionCg, ReportsAnIndefiniteMatrix) {
  const CsrMatrix<double> a = from_dense({{1 / 3.0, 0, 0}, {0, 2 / 3.0, 0}, {0, 0, -1 / 3.0}});
  MixedOptions options;
  options.kind = Kind::none;
  const MixedSolved solved = solve(a, Array<double>{1, 1, 3}, Products::corrected, options);
  EXPECT_EQ(solved.outcome.reason, Reason::indefinite_matrix);
}

TEST(MixedPrecisionCg, StopsAtTheIterationLimit) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 1 / 3.0);
  MixedOptions options;
  options.rule.max_iterations = 50;
  const MixedSolved solved = solve(a, random_vector<double>(a.rows), Products::corrected, options);
  EXPECT_EQ(solved.outcome.reason, Reason::too_many_iterations);
  EXPECT_EQ(solved.outcome.iterations, 50);
}

TEST(MixedPrecisionCg, RefusesRulesWithoutANorm) {
  const CsrMatrix<double> a = grid_matrix(10);
  const Array<double> b(a.rows, 1.0);
  MixedOptions options;
  options.rule.norm = NormKind::none;
  EXPECT_THROW(solve(a, b, Products::corrected, options), Error);
  options.rule = {};
  options.rule.judged_by_caller = true;
  EXPECT_THROW(solve(a, b, Products::corrected, options), Error);
}

}  // namespace
}  // namespace trireme::solvers
