// SPDX-License-Identifier: BSD-3-Clause
// The loops with FP32 vectors, which solvers run on GPUs only, by an executor of this test: with
// every preconditioner they reach FP64 accuracy, whatever the size of b, and a stopped solve goes
// on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "solvers/gauss_seidel.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

// The operation of the test in FP64. How often it was asked from within the loop with hints whose
// norm was far from that of r is counted.
class Operation final : public test::GaussSeidel {
 public:
  using GaussSeidel::GaussSeidel;
  bool takes_floats() const override { return true; }
  void enqueue_floats(DeviceSpan<const float> r, DeviceSpan<float> z, const LoopHints& hints,
                      StreamRef) override {
    const Array<double> wide(r.data(), r.data() + r.size());
    Array<double> result(wide.size());
    apply(wide, result);
    std::copy(result.begin(), result.end(), z.data());
    if (!hints.norm) return;
    const double ratio = test::norm(wide) / (*hints.norm / *hints.unit);
    if (!(ratio > 1e-4 && ratio < 1e4)) ++misled;
  }
  int misled = 0;
};

// Runs an algorithm row by row, as GraphExecutor does: with FP32 vectors, or with FP64 vectors and
// the exact product. The product in FP32 has row_defect() on its diagonal.
class RowExecutor {
 public:
  static constexpr bool has_row_weights = true;

  RowExecutor(const CsrMatrix<double>& a, State& state)
      : a_(a), defect_(test::row_defect(a)), state_(state) {}

  std::int64_t rows() const { return a_.rows; }
  bool running() const { return solvers::running(state_); }
  bool inexact() const { return state_.correct_below > 0; }
  bool needs_true_residual() const { return solvers::needs_true_residual(state_); }

  void exact_product(const double* x, double* y) const {
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      y[i] = 0;
      for (auto k = a_.row_ptr[i]; k < a_.row_ptr[i + 1]; ++k)
        y[i] += a_.values[k] * x[a_.col_idx[k]];
    }
  }
  void product(const float* x, float* y) const {
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      double sum = static_cast<double>(defect_[i]) * static_cast<double>(x[i]);
      for (auto k = a_.row_ptr[i]; k < a_.row_ptr[i + 1]; ++k)
        sum += static_cast<double>(static_cast<float>(a_.values[k])) *
               static_cast<double>(x[a_.col_idx[k]]);
      y[i] = static_cast<float>(sum);
    }
  }
  void product(const double* x, double* y) const { exact_product(x, y); }
  template <class T, class Step>
  void product_and_dot(const T* x, T* y, const Step& step) {
    product(x, y);
    pass(DotOf<T>{x, y}, step);
  }
  void apply_given(GivenPreconditioner& given, const double* r, double* z) const {
    const auto count = static_cast<std::size_t>(a_.rows);
    given.apply({r, count}, {z, count});
  }
  void apply_given(GivenPreconditioner& given, const float* r, float* z) const {
    LoopHints hints;
    if (in_loop_) hints = {&state_.norm, &state_.needs_no_z, &state_.unit};
    const auto count = static_cast<std::size_t>(a_.rows);
    given.enqueue_floats({r, count}, {z, count}, hints, StreamRef());
  }

  template <class Pass>
  void pass(const Pass& p) {
    if (!Pass::always && !live(state_)) return;
    double sums[Pass::sums + 1] = {};
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      typename Pass::Row row = p.load(i);
      p.update(row, state_, sums);
      p.store(i, row);
    }
    pending_.insert(pending_.end(), sums, sums + Pass::sums);
  }
  template <class Pass, class Step>
  void pass(const Pass& p, const Step& step) {
    pass(p);
    finish(step);
  }
  void forget_sums() { pending_.clear(); }
  template <class Step>
  void finish(const Step& step) {
    pending_.push_back(0);
    apply(state_, step, pending_.data(), false);
    pending_.clear();
  }
  template <class Body>
  void repeat(const Body& body) {
    in_loop_ = true;
    while (running()) body();
    in_loop_ = false;
  }

 private:
  const CsrMatrix<double>& a_;
  Array<float> defect_;
  State& state_;
  std::vector<double> pending_;
  bool in_loop_ = false;
};

enum class Made { jacobi, blocks, chebyshev, given };

class FloatVectors : public testing::TestWithParam<std::tuple<Method, Made>> {
 protected:
  void SetUp() override {
    std::tie(method, made) = GetParam();
    if (method == Method::bicgstab && made == Made::chebyshev)
      GTEST_SKIP() << "for symmetric matrices";
    a = test::grid_matrix(40, method == Method::cg ? 0 : 0.5, 100);
    for (double& value : a.values) value /= 3;  // no value is an FP32 number
    b = test::random_vector<double>(a.rows, 7);
    x.assign(b.size(), 0.0);
    rule.rtol = 1e-10;
    rule.atol = 0;
    for (Array<double>& vector : work)
      vector.assign(b.size(), std::numeric_limits<double>::quiet_NaN());
    operation.renew();
    inverse = test::diagonal_of(a);
    for (double& d : inverse) d = 1 / d;
    inverse_in_fp32.assign(inverse.begin(), inverse.end());
  }

  template <class Algorithm, class M>
  State run(const M& m, State state) {
    const auto algorithm = Algorithm::with({b.data(), x.data(), true, NormTerm{}},
                                           [this](int k) { return work[k].data(); });
    RowExecutor e(a, state);
    if (state.iterations == 0)
      run_solve(e, algorithm, m);
    else
      run_rest(e, algorithm, m);
    if (can_go_on(state)) algorithm.leave_direction(e, m);
    return state;
  }
  template <class M>
  State run(const M& m, const State& state) {
    if (state.correct_below == 0)
      return method == Method::cg ? run<Cg>(m, state) : run<Bicgstab>(m, state);
    return method == Method::cg ? run<Cg::Narrow>(m, state) : run<Bicgstab::Narrow>(m, state);
  }

  State solve(State state, bool in_double = false) {
    state.rule = rule;
    if (!in_double) state.correct_below = kCorrectBelow;
    choose_norm_parts(state);
    switch (made) {
      case Made::jacobi: {
        Jacobi m;
        m.inverse_diagonal.values = inverse.data();
        m.in_fp32 = inverse_in_fp32.data();
        return run(m, state);
      }
      case Made::blocks: {
        const test::BlocksOf blocks(a, 4);
        const BlockRows rows = block_rows(blocks.spec, a.rows);
        const Array<double> inverses = invert_blocks(rows, blocks.spec);
        BlockJacobi m;
        m.inverse = inverses.data();
        m.size = rows.size;
        return run(m, state);
      }
      case Made::chebyshev: {
        Chebyshev m;
        m.inverse_diagonal.values = inverse.data();
        m.in_fp32 = inverse_in_fp32.data();
        m.degree = 3;
        m.high = 2;
        m.low = m.high / 30;
        m.direction = work[7].data();
        m.product = work[8].data();
        return run(m, state);
      }
      case Made::given:
        return run(Given{&operation}, state);
    }
    return state;
  }
  Method method = Method::cg;
  Made made = Made::jacobi;
  CsrMatrix<double> a;
  Array<double> b, x, inverse;
  Array<float> inverse_in_fp32;
  Array<double> work[9];  // of the method, and two of Chebyshev
  Tolerances rule;
  Operation operation{a};
};

std::string name_of(const testing::TestParamInfo<FloatVectors::ParamType>& parameters) {
  const auto [method, made] = parameters.param;
  const char* const names[] = {"Jacobi", "BlockJacobi", "Chebyshev", "Given"};
  return std::string(info_of(method).name) + names[static_cast<int>(made)];
}
INSTANTIATE_TEST_SUITE_P(Methods, FloatVectors,
                         testing::Combine(testing::Values(Method::cg, Method::bicgstab),
                                          testing::Values(Made::jacobi, Made::blocks,
                                                          Made::chebyshev, Made::given)),
                         name_of);

// The sizes are far outside of the range of FP32.
TEST_P(FloatVectors, ReachTheToleranceByTheTrueResidualInAboutAsManyIterations) {
  const auto in_double = static_cast<double>(solve({}, true).iterations);
  for (const double size : {1.0, 1e-60, 1e60}) {
    SCOPED_TRACE(size);
    for (double& value : b) value *= size;
    x.assign(b.size(), 0.0);
    const State state = solve({});
    EXPECT_EQ(state.reason, Reason::rtol);
    EXPECT_LE(test::relative_residual(a, b, x), 1.01e-10);
    EXPECT_GE(state.replacements, 5);
    EXPECT_LE(static_cast<double>(state.iterations), 1.3 * in_double + 5);
    for (double& value : b) value /= size;
  }
  if (method == Method::cg) {  // the directions of BiCGSTAB are of any size
    EXPECT_EQ(operation.misled, 0);
  }
}

TEST_P(FloatVectors, AStoppedSolveGoesOn) {
  const std::int64_t at_once = solve({}).iterations;
  x.assign(b.size(), 0.0);
  State state;
  int pieces = 0;
  for (; pieces < 50 && state.reason != Reason::rtol; ++pieces) {
    State next;
    next.iterations = state.iterations;
    next.reference = state.reference;
    next.replacements = state.replacements;
    rule.max_iterations = state.iterations + std::max<std::int64_t>(at_once / 3, 1);
    // Only the directions are left of the work vectors.
    const auto keeps = [&](int k) {
      return method == Method::cg ? k == Cg::directions[0]
                                  : k == Bicgstab::directions[0] || k == Bicgstab::directions[1];
    };
    for (int k = 0; k < 9; ++k)
      if (!keeps(k)) work[k].assign(b.size(), std::numeric_limits<double>::quiet_NaN());
    state = solve(next);
  }
  EXPECT_EQ(state.reason, Reason::rtol);
  EXPECT_GE(pieces, 3);
  EXPECT_LE(test::relative_residual(a, b, x), 1.01e-10);
  EXPECT_LE(static_cast<double>(state.iterations), 1.3 * static_cast<double>(at_once) + 10);
}

}  // namespace
}  // namespace trireme::solvers
