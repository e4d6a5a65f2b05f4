// SPDX-License-Identifier: BSD-3-Clause
// One solve from beginning to end, the same for the host and for a GPU.
//
// A Backend is the memory and the executors of one place, the host or a GPU:
//   on_host                             whether the loop runs on the host
//   rows()                              the number of this process's rows
//   choose_floats(wanted)               whether loops that are inexact have FP32 vectors, where the
//                                       backend has such loops. Collective
//   allocate(vectors, own)              allocates the work vectors: `vectors` of the method, and
//                                       `own` of the preconditioner
//   allocate_cycle(length, elements)    allocates the arrays of a method that restarts
//   hold(vectors)                       makes room for so many work vectors of the method, whose
//                                       contents are lost where there were fewer. Collective
//   preconditioner_vector(k)            the address of the preconditioner's work vector k
//   keep_rows(values), keep(groups)     copy an array to where the loop runs, and own the copy
//   keep_row_scale(values)              likewise, in place of the last such array
//   inverse_diagonal(place, magnitudes) optional: D^-1 of the system, where the loop runs; with
//                                       `magnitudes` its absolute values
//   invert_blocks(blocks, spec)         inverts the diagonal blocks, and owns the inverses
//   choose(method, variant, jacobi)     decides how solves run, and returns the variant to use
//   vectors_in_fp32()                   whether inexact loops have them
//   inexact(rule, goes_on)              whether the products of such a solve are inexact
//   bring(vectors)                      the addresses of b and x where the loop runs, in its row
//                                       order
//   forget_loop()                       drops a recorded loop
//   forget_kept()                       drops what keep_rows(), inverse_diagonal() and
//                                       invert_blocks() have stored
//   run<Algorithm>(m, job)              runs a method's algorithm with preconditioner `m`, and
//                                       returns the final state
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "solvers/preconditioners/diagonal.hpp"
#include "solvers/solver.hpp"

namespace trireme::solvers {

// One run of a method's algorithm. b and x are addresses where the loop runs, in its row order.
struct Job {
  const double* b;
  double* x;
  bool zero_guess;
  State state;  // the scalars at the beginning
  RowWeights row_weights = {};
  bool exactly = true;      // all products are the system's exact product
  bool goes_on = false;     // the run continues a solve that was stopped
  bool new_space = false;   // likewise, but in a new Krylov space
  bool same_solve = false;  // the run continues the run before it, for the same observer
  bool observed = false;    // the observer needs the state of every iteration
  const IterationObserver& observer;
};

template <class Backend>
class Driver {
 public:
  static constexpr bool on_host = Backend::on_host;

  // Throws Error{input} for a block that cannot be inverted, Error{usage} for a preconditioner that
  // the method or the backend does not allow, and for cycles of no iteration. Collective over the
  // system's processes.
  Driver(Backend& backend, Method method, Variant variant, const PreconditionerSpec& spec,
         const MethodOptions& options)
      : backend_(backend), method_(method), options_(options) {
    if (info_of(spec.kind).symmetric && !info_of(method).symmetric)
      throw Error(ExitCode::usage, "preconditioner '" + std::string(info_of(spec.kind).summary) +
                                       "' needs a method for symmetric matrices; use one of " +
                                       symmetric_methods());
    if (info_of(spec.kind).nonsymmetric && info_of(method).symmetric)
      throw Error(ExitCode::usage, "preconditioner '" + std::string(info_of(spec.kind).summary) +
                                       "' is not symmetric; use one of " + nonsymmetric_methods());
    if (options.restart < 1)
      throw Error(ExitCode::usage,
                  "a cycle has at least one iteration, not " + std::to_string(options.restart));
    int vectors = 0, own = 0;
    backend.choose_floats(has_fp32_vectors(method, variant, spec.kind));
    const bool inexact = backend.inexact({}, false);
    visit_preconditioner(spec.kind, [&](auto m) { pointwise_ = decltype(m)::type::pointwise; });
    for_each_algorithm([&](auto entry) {
      using Algorithm = typename decltype(entry)::type;
      if (entry.method != method) return;
      vectors = std::max(vectors, work_vectors<Algorithm>(options, storage(!inexact)));
      if (Algorithm::info.restarts)
        backend.allocate_cycle(options.restart, small_elements<Algorithm>(options));
    });
    visit_preconditioner(spec.kind, [&](auto m) { own = decltype(m)::type::work_vectors; });
    // bounds_by_cg() needs the work vectors of CG, whatever the method is.
    if constexpr (on_host)
      visit_method_on_host(method, variant, [&](auto entry) {
        vectors = std::max(
            vectors, work_vectors<typename decltype(entry)::type>(options, storage(!inexact)));
      });
    held_ = std::max(vectors, own > 0 ? Cg::vectors : 0);
    backend.allocate(held_, own);
    prepare(spec);
    variant_ = backend.choose(method, variant, std::get_if<Jacobi>(&preconditioner_));
  }

  Variant variant() const { return variant_; }
  const PreparedPreconditioner& preconditioner() const { return preconditioner_; }
  const RowWeights& row_weights() const { return row_weights_; }
  // Whether the preconditioner was made with PreconditionerSpec::magnitudes.
  bool takes_magnitudes() const { return takes_magnitudes_; }

  // Prepares the preconditioner anew for new values of the system. Collective over the system's
  // processes.
  void renew(const PreconditionerSpec& spec) {
    backend_.forget_loop();  // it holds the addresses that are dropped
    backend_.forget_kept();
    row_weights_ = {};
    prepare(spec);
  }

  // Sets the R of NormTerm; see Solver.
  void weigh_rows(const RowScale& scale) {
    row_weights_ = {};
    if (!scale.weighs) return;
    const auto* const jacobi = std::get_if<Jacobi>(&preconditioner_);
    if (jacobi && scale.is_of_jacobi)
      row_weights_ = {RowWeights::From::jacobi, jacobi->inverse_diagonal};
    else
      row_weights_ = {RowWeights::From::array,
                      {backend_.keep_row_scale({scale.values.begin(), scale.values.end()})}};
  }

  // Runs one solve. b and x are addresses where the loop runs, in its row order.
  SolveResult solve(const double* b, double* x, bool zero_guess, const Tolerances& rule,
                    const IterationObserver& observer) {
    const std::optional<StoppedSolve> before = std::exchange(going_on_, std::nullopt);
    Job job{.b = b,
            .x = x,
            .zero_guess = zero_guess,
            .state = before ? state_of(*before) : State(),
            .row_weights = row_weights_,
            .goes_on = before && !before->new_space,
            .new_space = before && before->new_space,
            .observer = observer};
    job.state.rule = rule;
    choose_norm_parts(job.state);
    std::int64_t exact_from = before ? before->exact_from : -1;
    job.exactly = exact_from >= 0 || !backend_.inexact(rule, job.goes_on);
    if (!job.exactly) {
      require_norm(rule);
      job.state.correct_below = kCorrectBelow;
      if (backend_.vectors_in_fp32()) job.state.max_uncorrected = kMaxUncorrectedInFp32;
    } else {
      replace_residuals(job.state);
    }
    State state = run(job);
    const double dropped_norm = state.reason == Reason::worse_guess ? state.norm : -1;
    if (state.reason == Reason::worse_guess) {
      job.zero_guess = true;
      state = run(job);
    }
    if (!job.exactly && gave_up(state)) {
      exact_from = state.iterations;
      job.zero_guess = go_on_exactly(state);
      replace_residuals(state);
      job.state = state;
      job.exactly = job.same_solve = true;
      job.goes_on = false;
      state = run(job);
    }
    last_ = scalars_of(state, exact_from);
    SolveResult result = result_of(state, exact_from, variant_);
    result.dropped_norm = dropped_norm;
    return result;
  }

  // The numbers of the work vectors that hold the directions of a stopped solve. The owner of the
  // driver copies them from and to StoppedSolve::directions.
  std::span<const int> directions() const {
    std::span<const int> places;
    visit_method(method_, Variant::classic,
                 [&](auto entry) { places = decltype(entry)::type::directions; });
    return places;
  }
  // Makes room for the directions of a stopped solve, however that goes on. Collective.
  void make_room_for_directions() {
    for_each_algorithm([&](auto entry) {
      using Algorithm = typename decltype(entry)::type;
      if (entry.method == method_) hold(work_vectors<Algorithm>(options_, storage(true)));
    });
  }
  // The scalars of the last solve, without directions.
  const StoppedSolve& last() const { return last_; }
  // The next solve continues from the scalars of `stopped`. Its directions must already be in the
  // work vectors directions(), unless it goes on in a new space.
  void go_on(const StoppedSolve& stopped) {
    going_on_ = {
        stopped.iterations, stopped.reference, stopped.replacements, stopped.exact_from, {},
        stopped.new_space};
  }

  // The functions from here to bounds_by_cg() are the `setup` of preconditioners/list.hpp.
  std::int64_t rows() const { return backend_.rows(); }
  const double* keep_rows(Array<double> values) { return backend_.keep_rows(std::move(values)); }
  // Returns false where the system has no diagonal to take D^-1 from.
  bool inverse_diagonal(Diagonal& place, bool magnitudes) {
    if constexpr (requires { backend_.inverse_diagonal(place, magnitudes); })
      return backend_.inverse_diagonal(place, magnitudes);
    return false;
  }
  const RowGroup* keep(Array<RowGroup> groups) { return backend_.keep(std::move(groups)); }
  double* preconditioner_vector(int k) { return backend_.preconditioner_vector(k); }
  const double* invert_blocks(const BlockRows& blocks, const PreconditionerSpec& spec) {
    return backend_.invert_blocks(blocks, spec);
  }
  // Bounds of the spectrum of D^-1 A, from some iterations of CG with Jacobi and a random
  // right-hand side: with an inexact product, unless the range of its values does not suffice.
  // Collective over the system's processes.
  LanczosBounds bounds_by_cg(const Jacobi& jacobi, const PreconditionerSpec& spec) {
    const bool inexact = backend_.inexact({}, false);
    LanczosBounds bounds = bounds_by_cg(jacobi, spec, !inexact);
    if (inexact && !bounds.are_known()) bounds = bounds_by_cg(jacobi, spec, true);
    return bounds;
  }

 private:
  LanczosBounds bounds_by_cg(const Jacobi& jacobi, const PreconditionerSpec& spec, bool exactly) {
    LanczosBounds bounds;
    IterationObserver observer;
    observer.iteration = [&](const State& s, const Iterate&) {
      if (s.iterations > 0 && s.alpha > 0) bounds.add(s.alpha, s.beta);
      return Reason::running;
    };
    Array<double> b = random_right_hand_side(spec.first_row, rows());
    Array<double> x(b.size());
    const auto here = backend_.bring({b, x, true});
    Job job{.b = here.b,
            .x = here.x,
            .zero_guess = true,
            .state = {},
            .exactly = exactly,
            .observed = true,
            .observer = observer};
    job.state.rule.rtol = 1e-10;
    job.state.rule.max_iterations = spec.estimation_steps;
    if (!job.exactly) job.state.correct_below = kCorrectBelow;
    backend_.template run<Cg>(jacobi, job);
    backend_.forget_loop();
    return bounds;
  }

  LoopStorage storage(bool exactly) const {
    return {.pointwise = pointwise_,
            .inexact = !exactly,
            .floats = !exactly && backend_.vectors_in_fp32()};
  }
  // Collective where the vectors held so far do not suffice.
  void hold(int vectors) {
    if (vectors <= held_) return;
    held_ = 0;  // unless there is memory for all
    backend_.hold(vectors);
    held_ = vectors;
  }

  void prepare(const PreconditionerSpec& spec) {
    takes_magnitudes_ = spec.magnitudes;
    visit_preconditioner(
        spec.kind, [&](auto m) { preconditioner_ = decltype(m)::type::prepare(*this, spec); });
  }

  // Calls visit(entry) with the algorithm that solves run.
  template <class Visit>
  void visit_algorithm(const Visit& visit) {
    if constexpr (on_host)
      visit_method_on_host(method_, variant_, visit);
    else
      visit_method(method_, variant_, visit);
  }

  // Before a solve with an exact product: says when residuals are replaced in a method that needs
  // it.
  void replace_residuals(State& state) const {
    if (variant_ == Variant::pipelined && !state.rule.judged_by_caller)
      state.correct_below = kReplaceBelow;
  }

  State run(const Job& job) {
    State state;
    const auto with = [&](const auto& m) {
      using M = std::decay_t<decltype(m)>;
      if constexpr (!std::is_same_v<M, std::monostate>)
        visit_algorithm([&](auto entry) {
          using Algorithm = typename decltype(entry)::type;
          hold(work_vectors<Algorithm>(options_, storage(job.exactly)));
          state = backend_.template run<Algorithm>(m, job);
        });
    };
    std::visit(with, preconditioner_);
    return state;
  }

  Backend& backend_;
  Method method_;
  MethodOptions options_;
  Variant variant_ = Variant::classic;
  PreparedPreconditioner preconditioner_;
  RowWeights row_weights_;
  bool takes_magnitudes_ = false;
  bool pointwise_ = false;                // the preconditioner is
  int held_ = 0;                          // work vectors of the method, on each process
  StoppedSolve last_;                     // of the last solve; its directions are work vectors
  std::optional<StoppedSolve> going_on_;  // the scalars from which the next solve continues
};

}  // namespace trireme::solvers
