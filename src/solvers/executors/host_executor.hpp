// SPDX-License-Identifier: BSD-3-Clause
// Runs a method's algorithm on the host, by OpenMP loops whose sums do not depend on the number of
// threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "solvers/host_solver.hpp"
#include "solvers/methods/correction.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// One thread sums each chunk of `chunk_rows` rows into the chunk's own place, and the sums of the
// chunks are added in order. The result has the same bits for any number of threads.
class HostExecutor {
 public:
  static constexpr bool has_row_weights = true;
  static constexpr StateAccess state_access = StateAccess::one;
  static constexpr int sums_per_pass = 8;

  // The references must outlive the executor. `iterate` refers to x, and to the direction in which
  // x is one step behind r when the observer is told (empty: x is complete). Unless `inexact`, all
  // products are the system's exact product.
  HostExecutor(HostSystem& system, State& state, const IterationObserver& observer,
               const Iterate& iterate, bool inexact)
      : system_(system),
        inexact_(inexact),
        state_(state),
        observer_(observer),
        iterate_(iterate),
        rows_(system.rows()),
        chunks_((rows_ + chunk_rows - 1) / chunk_rows),
        partials_(chunks_ * max_sums) {}

  std::int64_t rows() const { return rows_; }
  bool running() const { return solvers::running(state_); }
  bool inexact() const { return inexact_; }
  bool needs_true_residual() const { return solvers::needs_true_residual(state_); }

  template <class Property>
  bool choose_if(const Property& property) const {
    return property(std::as_const(state_));
  }
  template <class Property>
  bool some(const Property& property) const {
    return property(std::as_const(state_));
  }
  template <class Number>
  int most(const Number& number) const {
    return number(std::as_const(state_));
  }

  template <class Body>
  void repeat(const Body& body) {
    for (; running(); ++iterations_) body();
  }
  bool ends_round() const { return iterations_ % round == round - 1; }
  static constexpr bool records() { return false; }

  void product(const double* x, double* y) {
    if (!inexact_) return exact_product(x, y);
    multiply(x, y);
    pass(Compensate{system_.row_defect().data(), x, y});
  }
  void exact_product(const double* x, double* y) {
    system_.multiply_exactly({x, static_cast<std::size_t>(rows_)},
                             {y, static_cast<std::size_t>(rows_)});
  }

  template <class Step>
  void product_and_dot(const double* x, double* y, const Step& step) {
    if (!inexact_) {
      exact_product(x, y);
      return pass(Dot{x, y}, step);
    }
    multiply(x, y);
    pass(CompensateAndDot{{system_.row_defect().data(), x, y}}, step);
  }

  // The products of a loop with FP32 vectors.
  void product(const float* x, float* y) {
    system_.multiply_floats({x, static_cast<std::size_t>(rows_)},
                            {y, static_cast<std::size_t>(rows_)});
  }
  template <class Step>
  void product_and_dot(const float* x, float* y, const Step& step) {
    product(x, y);
    pass(DotOf<float>{x, y}, step);
  }

  void apply_given(GivenPreconditioner& given, const double* r, double* z) {
    if (state_.needs_no_z != 0) return;
    given.apply({r, static_cast<std::size_t>(rows_)}, {z, static_cast<std::size_t>(rows_)});
  }

  template <class Pass>
  void pass(const Pass& pass) {
    if (!takes_place(pass, state_)) return;
    const State state = state_;
#pragma omp parallel for schedule(static) if (chunks_ > 4)
    for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const std::int64_t first = chunk * chunk_rows;
      run_chunk(pass, state, first, std::min(first + chunk_rows, rows_),
                partials_.data() + chunk * max_sums);
    }
    const auto room = static_cast<std::size_t>(pending_count_) + Pass::sums + 1;
    if (room > pending_.size()) pending_.resize(room);
    for (int k = 0; k < Pass::sums; ++k) {
      double sum = 0;
      for (std::int64_t chunk = 0; chunk < chunks_; ++chunk) sum += partials_[chunk * max_sums + k];
      pending_[pending_count_++] = sum;
    }
  }

  template <class Pass, class Step>
  void pass(const Pass& p, const Step& step) {
    pass(p);
    finish(step);
  }

  void forget_sums() { pending_count_ = 0; }

  // Sends the pending sums on their way over the processes. finish(step) completes them; there must
  // be no sums in between.
  void start_sums() {
    system_.start_sum(sums_to_add());
    sums_on_their_way_ = true;
  }

  // Adds the pending sums over all processes, applies the step, and tells the observer if an
  // iteration has ended.
  template <class Step>
  void finish(const Step& step) {
    if (std::exchange(sums_on_their_way_, false))
      system_.finish_sum();
    else
      system_.sum(sums_to_add());
    const bool stop_now = pending_[pending_count_] > 0;
    pending_count_ = 0;
    const bool first = !started(state_);
    if (!apply(state_, step, pending_.data(), false)) return;
    if (observer_.iteration) {
      iterate_.step = first || iterate_.direction.empty() ? 0 : state_.alpha;
      overrule(state_, observer_.iteration(state_, iterate_));
    }
    if (stop_now && running()) stop(state_, Reason::interrupted);
  }

 private:
  // The pending sums, and after them whether this process asks for a stop: one process stops all.
  std::span<double> sums_to_add() {
    pending_[pending_count_] = observer_.stop_requested() ? 1 : 0;
    return {pending_.data(), static_cast<std::size_t>(pending_count_) + 1};
  }

  void multiply(const double* x, double* y) {
    system_.multiply({x, static_cast<std::size_t>(rows_)}, {y, static_cast<std::size_t>(rows_)});
  }

  static constexpr std::int64_t chunk_rows = 2048;
  static constexpr int max_sums = sums_per_pass;
  static constexpr std::int64_t round = 8;  // iterations

  // The pragma tells the compiler that rows are independent, and that a sum may be kept in several
  // partial sums.
  template <class Pass>
  static void run_chunk(const Pass& pass, const State& state, std::int64_t first, std::int64_t last,
                        double* partial) {
    constexpr int count = Pass::sums == 0 ? 1 : Pass::sums;
    double sums[count] = {};
#pragma omp simd reduction(+ : sums[:count])
    for (std::int64_t i = first; i < last; ++i) {
      typename Pass::Row row = pass.load(i);
      pass.update(row, state, sums);
      pass.store(i, row);
    }
    for (int k = 0; k < Pass::sums; ++k) partial[k] = sums[k];
  }

  HostSystem& system_;
  bool inexact_;
  State& state_;
  const IterationObserver& observer_;
  Iterate iterate_;
  std::int64_t rows_;
  std::int64_t iterations_ = 0;  // of repeat()
  std::int64_t chunks_;
  Array<double> partials_;
  std::vector<double> pending_ = std::vector<double>(8);  // and the wish to stop
  int pending_count_ = 0;
  bool sums_on_their_way_ = false;
};

}  // namespace trireme::solvers
