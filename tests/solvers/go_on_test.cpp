// SPDX-License-Identifier: BSD-3-Clause
// A solve that was stopped goes on where it was: no iteration is lost, and the solution is the
// same.
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "solvers/pieces.hpp"

namespace trireme::solvers {
namespace {

using test::diagonal_of;
using test::grid_matrix;
using test::StoppedBy;
using Kind = PreconditionerSpec::Kind;

struct Case {
  std::string name;
  Method method;
  Variant variant;
  Kind kind;
  bool mixed = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// Every algorithm of the lists that leaves a direction, with each preconditioner that serves it.
std::vector<Case> cases() {
  std::vector<Case> all;
  const std::pair<Kind, const char*> kinds[] = {{Kind::none, "None"},
                                                {Kind::jacobi, "Jacobi"},
                                                {Kind::blocks, "Blocks"},
                                                {Kind::chebyshev, "Chebyshev"}};
  const auto add = [&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    if (std::size(Algorithm::directions) == 0) return;
    const bool classic = Algorithm::variant != Variant::single_reduction;
    const std::string method = std::string(Algorithm::info.name) + (classic ? "" : "Single");
    for (const bool mixed : {false, true})
      for (const auto& [kind, word] : kinds)
        if (Algorithm::info.symmetric || kind != Kind::chebyshev)
          all.push_back({method + word + (mixed ? "Mixed" : ""), entry.method, Algorithm::variant,
                         kind, mixed});
  };
  for_each_entry<MethodList>(add);
  for_each_entry<HostMethodList>(add);
  return all;
}

// A system, and what a solver for it needs.
class GoingOn : public testing::TestWithParam<Case> {
 protected:
  GoingOn() {
    for (double& value : a_.values) value /= 3;  // no value is an FP32 number
    defect_ = test::row_defect(a_);
    diagonal_ = diagonal_of(a_);
    exact_ = build_host_kernel<double>("csr", a_.view());
    rounded_ = build_mixed_host_kernel("csr", a_.view());
    blocks_ = std::make_unique<test::BlocksOf>(a_, 4);
    system_ = GetParam().mixed
                  ? std::make_unique<HostKernelSystem>(*rounded_, a_.rows, exact_.get(), defect_)
                  : std::make_unique<HostKernelSystem>(*exact_, a_.rows);
    options_.method = GetParam().method;
    options_.rule.rtol = 1e-10;
    options_.preconditioner =
        GetParam().kind == Kind::blocks ? blocks_->spec : test::jacobi(diagonal_);
    options_.preconditioner.kind = GetParam().kind;
    if (GetParam().kind == Kind::none) options_.preconditioner = {};
  }

  std::unique_ptr<HostSolver> solver(Variant variant) {
    return std::make_unique<HostSolver>(*system_, options_.method, variant,
                                        options_.preconditioner);
  }
  auto maker() {
    return [this] { return solver(GetParam().variant); };
  }
  test::Solved whole() {
    const auto one = solver(GetParam().variant);
    return test::solve_by(*one, b_, options_);
  }
  // CG does the same iterations except for rounding errors, which BiCGSTAB amplifies.
  std::int64_t max_iterations(std::int64_t uninterrupted) const {
    return GetParam().method == Method::cg ? uninterrupted + 1 : uninterrupted * 5 / 4 + 5;
  }

  CsrMatrix<double> a_ = grid_matrix(40, GetParam().method == Method::cg ? 0 : 0.5, 50);
  Array<double> b_ = test::random_vector<double>(a_.rows, 3);
  Array<float> defect_;
  Array<double> diagonal_;
  std::unique_ptr<HostKernel<double>> exact_, rounded_;
  std::unique_ptr<test::BlocksOf> blocks_;
  std::unique_ptr<HostKernelSystem> system_;
  test::Options options_;
};

TEST_P(GoingOn, NeedsNoMoreIterationsHoweverOftenItIsStopped) {
  const test::Solved uninterrupted = whole();
  ASSERT_EQ(uninterrupted.outcome.reason, Reason::rtol);
  for (const std::int64_t piece : {1, 2, 7, 20, 53}) {
    const test::Solved pieces = test::solve_in_pieces(maker(), b_, options_, piece);
    SCOPED_TRACE(fmt::format("stopped every {} iterations", piece));
    EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
    EXPECT_LE(pieces.outcome.iterations, max_iterations(uninterrupted.outcome.iterations));
    EXPECT_EQ(std::ssize(pieces.history), pieces.outcome.iterations + 1);
    EXPECT_LE(test::relative_residual(a_, b_, pieces.x), 1.01e-10);
  }
}

TEST_P(GoingOn, InANewSpaceTellingEachIterationOnce) {
  const test::SolvedInPieces pieces =
      test::solve_in_pieces(maker(), b_, options_, 53, StoppedBy::limit, true);
  EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
  EXPECT_GT(pieces.pieces, 1);
  EXPECT_EQ(std::ssize(pieces.history), pieces.outcome.iterations + 1);
  EXPECT_LE(test::relative_residual(a_, b_, pieces.x), 1.01e-10);
}

TEST_P(GoingOn, AfterAStopByTheCallerToo) {
  const test::Solved uninterrupted = whole();
  const test::Solved pieces = test::solve_in_pieces(maker(), b_, options_, 11, StoppedBy::observer);
  EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
  EXPECT_LE(pieces.outcome.iterations, max_iterations(uninterrupted.outcome.iterations));
  EXPECT_LE(test::relative_residual(a_, b_, pieces.x), 1.01e-10);
}

TEST_P(GoingOn, AfterAStopBeforeItsFirstIteration) {
  const test::Solved uninterrupted = whole();
  options_.rule.max_iterations = uninterrupted.outcome.iterations / 2;
  Array<double> x(a_.rows);
  const auto first = solver(GetParam().variant), second = solver(GetParam().variant);
  first->solve({b_, x, true}, options_.rule);
  second->go_on(first->stopped());
  EXPECT_EQ(second->solve({b_, x, false}, options_.rule).iterations, options_.rule.max_iterations);
  options_.rule.max_iterations = 10000;
  first->go_on(second->stopped());
  const SolveResult last = first->solve({b_, x, false}, options_.rule);
  EXPECT_EQ(last.reason, Reason::rtol);
  EXPECT_LE(last.iterations, max_iterations(uninterrupted.outcome.iterations));
}

TEST_P(GoingOn, InTheOtherVariantOfCg) {
  if (GetParam().method != Method::cg) GTEST_SKIP() << "it has one variant";
  const test::Solved uninterrupted = whole();
  bool single_reduction = false;
  const auto alternately = [&] {
    single_reduction = !single_reduction;
    return solver(single_reduction ? Variant::single_reduction : Variant::classic);
  };
  const test::Solved pieces = test::solve_in_pieces(alternately, b_, options_, 13);
  EXPECT_EQ(pieces.outcome.reason, Reason::rtol);
  EXPECT_LE(pieces.outcome.iterations, uninterrupted.outcome.iterations + 2);
  EXPECT_LE(test::relative_residual(a_, b_, pieces.x), 1.01e-10);
}

INSTANTIATE_TEST_SUITE_P(Resident, GoingOn, testing::ValuesIn(cases()),
                         [](const auto& chosen) { return chosen.param.name; });

// Without the direction, CG begins anew and needs more iterations. This shows that the tests of
// GoingOn can fail.
TEST(GoingOnFromX, WithoutADirectionCostsCgIterations) {
  const CsrMatrix<double> a = grid_matrix(40, 0, 50);
  const Array<double> b = test::random_vector<double>(a.rows, 3);
  test::Options options;
  const test::Solved whole = test::solve(a, b, options);
  options.rule.max_iterations = whole.outcome.iterations / 2;
  const test::Solved half = test::solve(a, b, options);
  options.rule = {};
  options.x0 = half.x;
  const test::Solved rest = test::solve(a, b, options);
  EXPECT_GT(half.outcome.iterations + rest.outcome.iterations,
            whole.outcome.iterations + whole.outcome.iterations / 5);
}

TEST(GoingOnFromX, KeepsTheToleranceOfTheFirstResidual) {
  const CsrMatrix<double> a = grid_matrix(20);
  const Array<double> b = test::random_vector<double>(a.rows, 3);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  test::Options options;
  options.rule.relative_to_initial_residual = true;
  const auto make = [&] {
    return std::make_unique<HostSolver>(system, Method::cg, Variant::classic, PreconditionerSpec{});
  };
  const auto one = make();
  const test::Solved whole = test::solve_by(*one, b, options);
  const test::Solved pieces = test::solve_in_pieces(make, b, options, 10);
  EXPECT_LE(pieces.outcome.iterations, whole.outcome.iterations + 1);
}

TEST(GoingOnFromX, RefusesTheDirectionsOfAnotherMethodOrSystem) {
  const CsrMatrix<double> a = grid_matrix(20);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostSolver solver(system, Method::bicgstab, Variant::classic, {});
  StoppedSolve stopped;
  stopped.directions.assign(1, Array<double>(a.rows));
  EXPECT_THROW(solver.go_on(stopped), Error);
  stopped.directions.assign(2, Array<double>(a.rows - 1));
  EXPECT_THROW(solver.go_on(stopped), Error);
}

TEST(GoingOnFromX, FollowsOneSolveOnly) {
  const CsrMatrix<double> a = grid_matrix(20);
  const Array<double> b = test::random_vector<double>(a.rows, 3);
  const auto kernel = build_host_kernel<double>("csr", a.view());
  HostKernelSystem system(*kernel, a.rows);
  HostSolver solver(system, Method::cg, Variant::classic, {});
  test::Options options;
  const test::Solved whole = test::solve_by(solver, b, options);
  options.rule.max_iterations = 10;
  Array<double> x(a.rows);
  solver.solve({b, x, true}, options.rule);
  solver.go_on(solver.stopped());
  options.rule.max_iterations = 10000;
  EXPECT_LE(solver.solve({b, x, false}, options.rule).iterations, whole.outcome.iterations + 1);
  const test::Solved again = test::solve_by(solver, b, options);
  EXPECT_EQ(again.history, whole.history);
}

}  // namespace
}  // namespace trireme::solvers
