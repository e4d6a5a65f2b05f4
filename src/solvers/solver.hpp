// SPDX-License-Identifier: BSD-3-Clause
// The common interface of HostSolver and CudaSolver. They are the resident engine: Trireme's own
// Krylov loop, which keeps vectors and scalars, and takes its decisions, where the kernel runs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <variant>

#include "base/array.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/list.hpp"
#include "solvers/state.hpp"
#include "solvers/stopped_solve.hpp"

namespace trireme::solvers {

// Whether loops of a method with a preconditioner of this kind have a form with FP32 vectors, for
// one right-hand side or for the columns of a block.
constexpr bool has_fp32_vectors(Method method, Variant variant, PreconditionerKind kind,
                                bool in_block = false) {
  bool has = false;
  visit_preconditioner(kind, [&](auto m) {
    using M = typename decltype(m)::type::Prepared;
    visit_method(method, variant, [&](auto entry) {
      using Algorithm = typename decltype(entry)::type;
      has = in_block ? kBlockHasFloats<Algorithm, M> : kHasFloats<Algorithm, M>;
    });
  });
  return has;
}

// The iterate whose residual has the norm that an observer is told: x + step * direction. All spans
// are empty while the loop runs on a GPU, in a method that restarts, and with FP32 vectors.
struct Iterate {
  std::span<const double> x;
  std::span<const double> direction;
  double step = 0;
  std::span<const std::int32_t> order;  // the caller's row of each element; empty: the same row
};

// What a caller wants to know and to decide while a solve runs.
struct IterationObserver {
  // Called for each iteration, with state.iterations and with the recurrence's norm state.norm. It
  // returns Reason::running, or the reason to end the loop (a convergence test of the caller).
  std::function<Reason(const State& state, const Iterate& iterate)> iteration;
  // Polled while the loop runs; true ends the solve with Reason::interrupted.
  std::function<bool()> stop;

  bool stop_requested() const { return stop && stop(); }
};

// This process's rows of b and x, in host memory.
struct SolveVectors {
  std::span<const double> b;
  std::span<double> x;  // the initial guess, and the solution
  bool zero_guess = true;
};

struct SolveResult {
  Reason reason = Reason::running;
  std::int64_t iterations = 0;
  double norm = 0;  // of b - A x if convergence was confirmed, else of the recurrence's residual
  std::int32_t replacements = 0;  // how often b - A x replaced the recurrence's residual
  bool stagnated = false;         // reason is breakdown, and x is as good as the arithmetic allows
  // The iteration from which the exact product was used, because the inexact product did not lead
  // to convergence; -1: none.
  std::int64_t exact_from = -1;
  // The norm of b - A x0 where the guess x0 was not used; see Tolerances. Negative: it was used, or
  // there was none.
  double dropped_norm = -1;
  Variant variant = Variant::classic;
};

// The result of a solve that ended in `state`.
inline SolveResult result_of(const State& state, std::int64_t exact_from, Variant variant) {
  return {.reason = state.reason,
          .iterations = state.iterations,
          .norm = state.norm,
          .replacements = state.replacements,
          .stagnated = stagnated(state),
          .exact_from = exact_from,
          .dropped_norm = -1,
          .variant = variant};
}

// One over the size of each row of this process, in the caller's order on the host, for RowTest.
struct RowScale {
  bool weighs = false;  // false: rows count as they are. The same on all processes
  std::span<const double> values;
  bool is_of_jacobi = false;  // the preconditioner is Jacobi, whose D^-1 serves as well
};

namespace detail {
// std::variant with M as one more alternative, unless M is one already.
template <class List, class M>
struct Append;
template <class... Known, class M>
struct Append<std::variant<Known...>, M> {
  using type = std::conditional_t<(std::is_same_v<Known, M> || ...), std::variant<Known...>,
                                  std::variant<Known..., M>>;
};
// std::variant with each of M... as an alternative once.
template <class Known, class... M>
struct Distinct {
  using type = Known;
};
template <class Known, class First, class... Rest>
struct Distinct<Known, First, Rest...> {
  using type = typename Distinct<typename Append<Known, First>::type, Rest...>::type;
};
template <class List>
struct PreparedOf;
template <class... M>
struct PreparedOf<std::tuple<M...>> {
  using type = typename Distinct<std::variant<std::monostate>, typename M::Prepared...>::type;
};
}  // namespace detail

// A variant of the Prepared types of the preconditioners' list; monostate before the set-up.
using PreparedPreconditioner = typename detail::PreparedOf<PreconditionerList>::type;

// Keeps work vectors and the preconditioner between solves with the same matrix.
//
// A solve that was interrupted or that reached the iteration limit leaves the current iterate in x.
// stopped() returns the other data that another solve needs to go on, and go_on() hands them to a
// solver for the same matrix and the same preconditioner. The next solve() of that solver, with the
// same x, does the iterations that the first solver would have done: b - A x takes the place of r,
// and the next direction is the one that the first solver would have used. (MINRES starts a new
// Lanczos process, so that it needs more iterations.)
class Solver {
 public:
  virtual ~Solver() = default;
  Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // Solves A x = b by `rule`. vectors.x holds the initial guess and becomes the solution. Throws
  // Error{usage} for a rule that an inexact product does not allow; see require_norm(). Collective
  // over the system's processes.
  virtual SolveResult solve(const SolveVectors& vectors, const Tolerances& rule,
                            const IterationObserver& observer = {}) = 0;
  // Prepares the preconditioner anew for new values of the system, whose pattern is the same.
  // `spec` has the kind with which the solver was made. Without this call, solves after new values
  // use the preconditioner of the old ones. Throws what the constructor throws for the data of a
  // preconditioner. Collective over the system's processes.
  virtual void renew(const PreconditionerSpec& spec) = 0;
  // The data with which the last solve can go on. Valid if the solve was interrupted or reached the
  // iteration limit; see can_go_on().
  virtual StoppedSolve stopped() const = 0;
  // The next solve, and no later one, goes on from `stopped`. Throws Error{internal} for directions
  // of another number or length.
  virtual void go_on(const StoppedSolve& stopped) = 0;
  // Whether loops have FP32 vectors, until one goes on in FP64.
  virtual bool vectors_in_fp32() const = 0;
  // The variant in use.
  virtual Variant variant() const = 0;
  // The preconditioner in use. Its arrays are in the memory where the loop runs.
  virtual const PreparedPreconditioner& preconditioner() const = 0;
  // Sets the sizes of rows that RowTest means, until renew(); none at first.
  virtual void weigh_rows(const RowScale& scale) = 0;
  // The R of NormTerm, where the loop runs.
  virtual const RowWeights& row_weights() const = 0;
};

// Throws Error{internal} unless `stopped` has `vectors` directions of `rows` rows each.
void require_directions(const StoppedSolve& stopped, std::size_t vectors, std::int64_t rows);

// Throws Error{usage} for a rule without a norm or with a test of the caller, because a residual of
// an inexact product could not be corrected then.
void require_norm(const Tolerances& rule);

}  // namespace trireme::solvers
