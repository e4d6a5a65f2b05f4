// SPDX-License-Identifier: BSD-3-Clause
// The resident engine: Trireme's own Krylov loop, which keeps vectors, scalars and decisions where
// the kernel runs. What its solvers on the host and on a GPU have in common.
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

// The iterate that goes with a norm: x + step * direction.
struct Iterate {
  std::span<const double> x;
  std::span<const double> direction;
  double step = 0;
};

// Hears of each iteration: state.iterations and state.norm, by the recurrence.
struct IterationObserver {
  // May end the loop by returning a reason (a convergence test of the caller's own).
  std::function<Reason(const State& state, const Iterate& iterate)> iteration;
  std::function<bool()> stop;  // polled; true ends the solve with Reason::interrupted

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
  double norm = 0;  // of b - A x where convergence was verified, else by the recurrence
  std::int32_t replacements = 0;  // of the recurrence's residual by b - A x
  bool stagnated = false;         // x is as good as the arithmetic allows: Reason::breakdown
  // The iteration from which the exact product was used, because the inexact one had led nowhere;
  // or -1.
  std::int64_t exact_from = -1;
  Variant variant = Variant::classic;
};

namespace detail {
template <class List, class M>
struct Append;
template <class... Known, class M>
struct Append<std::variant<Known...>, M> {
  using type = std::conditional_t<(std::is_same_v<Known, M> || ...), std::variant<Known...>,
                                  std::variant<Known..., M>>;
};
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

// What the preconditioners of the list become when they are set up; monostate before that.
using PreparedPreconditioner = typename detail::PreparedOf<PreconditionerList>::type;

// Keeps work vectors and the preconditioner between solves with the same matrix.
//
// A solve that ended as interrupted or at the iteration limit has left the solution so far in x,
// and stopped() gives what else it takes to go on. A solver for the same matrix and the same
// preconditioner takes that by go_on(). Its next solve(), with that x, then does the iterations
// that the first solver would have done: b - A x takes the place of r, and the search goes on in
// the direction that was next. (MINRES starts a new Lanczos process, so it needs more iterations.)
class Solver {
 public:
  virtual ~Solver() = default;
  Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  // Collective over the system's processes. Throws Error{usage} for a rule that an inexact product
  // cannot serve.
  virtual SolveResult solve(const SolveVectors& vectors, const Tolerances& rule,
                            const IterationObserver& observer = {}) = 0;
  // Of the last solve, where can_go_on() holds for its reason.
  virtual StoppedSolve stopped() const = 0;
  // For the next solve, and only that. Throws Error{internal} for directions of other rows.
  virtual void go_on(const StoppedSolve& stopped) = 0;
  virtual Variant variant() const = 0;
  // Its addresses are those of the memory where the loop runs.
  virtual const PreparedPreconditioner& preconditioner() const = 0;
};

// Throws Error{internal} unless there are so many directions of so many rows.
void require_directions(const StoppedSolve& stopped, std::size_t vectors, std::int64_t rows);

// Throws Error{usage} for a rule by which an inexact product could not be corrected.
void require_norm(const Tolerances& rule);

}  // namespace trireme::solvers
