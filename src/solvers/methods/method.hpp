// SPDX-License-Identifier: BSD-3-Clause
// The parts of every Krylov method: its traits, the vectors that it works on, and the loop that
// runs it.
//
// A method is a struct of pointers, in one header of this folder and one line of list.hpp. Its
// functions are algorithms for an executor `e` (the host's, the host's for many right-hand sides, a
// CUDA graph's, or the persistent CUDA kernel's) and a preconditioner `m`:
//
//   reference_norm(e, m)   sets state.reference to ||b|| in the norm that is tested
//   start(e, m, zero)      computes r = b - A x (x = 0 if `zero`), and by begin() all scalars and
//                          directions
//   iteration(e, m)        does one iteration; exactly one of its steps has ends_iteration
//   correct(e, m)          after an inexact product, and where the method `replaces_residual`:
//                          replaces r by b - A x. May do nothing: then start() follows
//   go_on(e, m)            stands in place of start() after a stopped solve, whose directions are
//                          in the work vectors that `directions` names
//   leave_direction(e, m)  brings the directions of a stopped solve into the work vectors that
//                          `directions` names
//   complete_x(e)          where `x_is_late`: adds to x what the iterations have kept apart
//
// The struct also has these constants:
//
//   vectors                the number of work vectors
//   pointwise_vectors      the number of work vectors with a pointwise preconditioner
//   scalars                the number of elements of State::scalar in use
//   directions             the work vectors that go_on() needs
//   left_behind            the work vectors that leave_direction() starts from
//
// Narrow, where a method has it, is the form with FP32 vectors, two of which share the memory of a
// work vector. In a block of right-hand sides `exact` of one column lies in the memory of other
// columns, so that it shares none with a vector that the next iteration reads.
//
// A method that `restarts` works in cycles of a number of iterations that the caller chooses, has
// as many work vectors more, which come first, or half as many where it stores them in FP32, and
// small arrays of small_elements() numbers; CycleWork has both. Its x is complete only after
//
//   end_cycles(e, m)       completes x where the loop has ended
//
// Its product_vector() is a work vector that start() overwrites. All functions that an algorithm
// calls must be TRIREME_HD: in a kernel, the compiler silently takes a call of another one for
// unreachable code.
//
// An executor offers: rows(), product(x, y), exact_product(x, y), product_and_dot(x, y, step),
// which an algorithm may call by product_and_pass(), pass(p), pass(p, step), finish(step),
// forget_sums(), repeat(body), running(), inexact() and needs_true_residual(); on the host for one
// right-hand side also start_sums(), after which the pending sums are on their way until
// finish(step). Where vectors are in FP32 it also offers ends_round(), whether the iteration that
// runs is the last of a few, and records(), whether these few are the same ones again and again. A
// pass does load, update and store for each row, so that many rows can be in flight; an executor
// adds up the sums of passes in a fixed order. Where vectors are in FP32, a pass may have
// in_fours(), the same pass for four neighbouring rows at once (diagonal.hpp), which a GPU loads
// and stores together.
// A step sees the sums that are pending, in the order of the algorithm, and changes the scalars.
// The persistent CUDA kernel exchanges at most four sums at once.
//
// For methods that restart, which the persistent CUDA kernel does not run, an executor also offers
// choose_if(property), `sums_per_pass` and `state_access`, and, where it can read states while the
// loop runs, some(property) and most(number).
//
// The host and a GPU run the same algorithms for many right-hand sides (lockstep_executor.hpp,
// cuda_lockstep_executor.cuh), where a vector holds several columns side by side and each column
// has its own scalars. For that, a pass keeps two rules: a number per row that is the same for all
// columns is read in load(), through a member `inverse` of type DiagonalOf or through `norm.rows`,
// and update() reads no other scalars than alpha, beta, rho, plain_part, other_part, column and
// State::scalar, and where vectors are in FP32, which only GPUs have, unit and rescale. (What
// load() is given is the place of an element, which is not the number of its row.)
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "solvers/methods/norm_term.hpp"
#include "solvers/preconditioners/diagonal.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// Forms of one method that give the same iterates in exact arithmetic.
//   automatic         one of the following by a rule; measured: by timings, so that bits may differ
//                     from run to run (CG on several processes; elsewhere as automatic)
//   classic           the fewest values moved
//   single_reduction  one point of global sums per iteration (CG only)
//   pipelined         these sums run beside the product (CG on the host only)
enum class Variant { automatic, measured, classic, single_reduction, pipelined };

struct MethodInfo {
  std::string_view name;        // in case files; the KSP type is trireme_<name>
  std::string_view petsc_name;  // PETSc's own KSP type of the same method
  std::string_view matrices;    // the matrices that the method is for, in words
  bool symmetric = false;       // the matrix and the preconditioner must be symmetric
  bool right_preconditioned = false;
  bool positive_preconditioner = false;  // M must be positive definite, whatever the matrix is
  // Norms that the convergence test can use beside the unpreconditioned norm and none.
  bool tests_preconditioned_norm = false;
  bool tests_natural_norm = false;
  int products = 1;              // with the matrix, per iteration
  bool resident_only = false;    // PETSc's type of `petsc_name` is no replacement, only a relative
  bool host_only = false;        // no executor of GPUs runs its own algorithm
  bool block = false;            // its own algorithm solves for all columns of a block together
  bool restarts = false;         // works in cycles of MethodOptions::restart iterations
  std::string_view remark = {};  // to `matrices`, in lists for readers
};

// What a caller chooses about a method.
struct MethodOptions {
  std::int32_t restart = 30;  // iterations per cycle, of a method that `restarts`
  bool operator==(const MethodOptions&) const = default;
};

// Which states an executor can read while the loop runs: none (the loop may be recorded), that of
// its one right-hand side, or those of all columns.
enum class StateAccess { none, one, many };

// What an executor lends a method that restarts.
struct CycleWork {
  std::int32_t length = 0;   // the iterations of a cycle
  double* arrays = nullptr;  // of State::column 0, then those of column 1
  bool in_fp32 = false;      // two vectors of the basis share the memory of a work vector
};

// The work vectors that hold the basis of a cycle.
constexpr std::int32_t vectors_of_cycle(std::int32_t length, bool in_fp32) {
  return in_fp32 ? length / 2 + length % 2 : length;
}

// How a loop runs, as far as its memory is concerned.
struct LoopStorage {
  bool pointwise = false;  // the preconditioner is
  bool inexact = false;    // the products are; GMRES then has its basis in FP32
  bool floats = false;     // the form with FP32 vectors runs, where the algorithm has one
};

// The work vectors of an algorithm.
template <class Algorithm>
constexpr int work_vectors(const MethodOptions& options, LoopStorage how) {
  if constexpr (requires { requires !std::is_same_v<Algorithm, typename Algorithm::Narrow>; })
    if (how.floats) return work_vectors<typename Algorithm::Narrow>(options, how);
  const int fixed_vectors[] = {Algorithm::vectors, Algorithm::pointwise_vectors};
  const int fixed = fixed_vectors[how.pointwise ? 1 : 0];
  return fixed + (Algorithm::info.restarts ? vectors_of_cycle(options.restart, how.inexact) : 0);
}
// The numbers in CycleWork::arrays, per column.
template <class Algorithm>
constexpr std::int64_t small_elements(const MethodOptions& options) {
  if constexpr (Algorithm::info.restarts)
    return Algorithm::small_elements(options.restart);
  else
    return 0;
}

// Whether a pass works on its rows in this state. What load() reads must exist in any state.
template <class Pass>
TRIREME_HD bool takes_place(const Pass& pass, const State& s) {
  if constexpr (requires { pass.due(s); }) return live(s) && pass.due(s);
  return Pass::always || live(s);
}

// Runs make(std::bool_constant<weighed>), which does a pass of a loop. The persistent kernel, whose
// registers are scarce, has no row weights but D^-1, and what weigh_rows() does comes before its
// launch.
TRIREME_RUNS_EXECUTOR
template <class Exec, class Make>
TRIREME_HD void by_weights(Exec&, const NormTerm& norm, const Make& make) {
  if constexpr (Exec::has_row_weights) {
    if (norm.rows.from == RowWeights::From::array) return make(std::true_type{});
  }
  make(std::false_type{});
}

// y = A x, `first` from x.y, and the pass `p` with its step. An executor that has a function of
// this name applies `first` within the pass.
TRIREME_RUNS_EXECUTOR
template <class Exec, class T, class First, class Pass, class Step>
TRIREME_HD void product_and_pass(Exec& e, const T* x, T* y, const First& first, const Pass& p,
                                 const Step& step) {
  if constexpr (requires { e.product_and_pass(x, y, first, p, step); }) {
    e.product_and_pass(x, y, first, p, step);
  } else {
    e.product_and_dot(x, y, first);
    e.pass(p, step);
  }
}

// The vectors of a solve that belong to the caller, in the memory where the loop runs. All vectors
// of a solve have the same length, the number of this process's rows.
struct SystemVectors {
  const double* b;
  double* x;
  bool zero_guess;
  NormTerm norm;
  CycleWork cycle = {};
};

// The work vectors of an algorithm: side by side, `elements` numbers each.
struct WorkMemory {
  double* first;
  std::int64_t elements;
  int count = 1 << 20;  // that exist

  TRIREME_HD double* operator()(int k) const { return k < count ? first + k * elements : nullptr; }
  // Vector k of those in FP32: 2 k and 2 k + 1 are the halves of the memory of operator()(k).
  TRIREME_HD float* in_fp32(int k) const {
    return k / 2 < count ? reinterpret_cast<float*>(first) + k * elements : nullptr;
  }
};

// Sums the norm term of b - q, which needs no preconditioner.
struct PlainResidualNorm {
  static constexpr int sums = 1;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  NormTerm norm;

  struct Row {
    double r, weight;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {b[i] - q[i], norm.rows[i]}; }
  TRIREME_HD void update(Row& row, const State& s, double* sum) const {
    sum[0] += norm(row.r, 0, row.weight, s);
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// Sums {b.b, R b.R b, r.r, R r.R r} with r = b - q (q null: r = b) and R = D^-1.
struct RowNorms {
  static constexpr int sums = 4;
  static constexpr bool always = true;
  const double* b;
  const double* q;
  Diagonal inverse;

  struct Row {
    double b, r, inverse;
  };
  TRIREME_HD Row load(std::int64_t i) const { return {b[i], q ? b[i] - q[i] : b[i], inverse[i]}; }
  TRIREME_HD void update(Row& row, const State&, double* sum) const {
    const double scaled_b = row.inverse * row.b, scaled_r = row.inverse * row.r;
    sum[0] += row.b * row.b;
    sum[1] += scaled_b * scaled_b;
    sum[2] += row.r * row.r;
    sum[3] += scaled_r * scaled_r;
  }
  TRIREME_HD void store(std::int64_t, const Row&) const {}
};

// From the sums of RowNorms: the parts of the norm, so that both of them are ||v|| for the vector v
// to which rtol is relative: b, or the first residual where a rule asks for that or b = 0.
struct SetRowParts {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    const bool by_residual = s.rule.relative_to_initial_residual || !(sum[0] > 0);
    const double ratio = by_residual ? sum[2] / sum[3] : sum[0] / sum[1];
    if (!(ratio > 0) || !is_finite(ratio)) return;  // the norm of r alone
    const bool both = s.rule.rows == RowTest::both;
    s.plain_part = both ? 0.5 : 0;
    s.other_part = both ? 0.5 * ratio : ratio;
  }
};

// From the square of the norm of b - A x: confirms a claim, or leaves it to start().
struct Confirm {
  static constexpr bool ends_iteration = false;
  TRIREME_HD void operator()(State& s, const double* sum) const {
    if (s.rule.norm != NormKind::unpreconditioned || s.due != Due::confirmation) return;
    if (const double norm = sqrt(sum[0]); norm <= s.target) verify(s, norm);
  }
};

// Whether an algorithm has a form with FP32 vectors, Algorithm::Narrow, that runs with this
// preconditioner.
template <class Algorithm, class M>
inline constexpr bool kHasFloats = M::takes_floats&& requires {
  typename Algorithm::Narrow;
};
// The same for the columns of a block.
template <class Algorithm, class M>
inline constexpr bool kBlockHasFloats = kHasFloats<Algorithm, M>&& M::pointwise;

// Whether the recurrences of a method lose digits even with an exact product, so that correct()
// serves it there too.
template <class Algorithm>
inline constexpr bool kReplacesResidual = requires {
  Algorithm::replaces_residual;
};

// Whether x lacks the steps since the last true residual until complete_x().
template <class Algorithm>
inline constexpr bool kXIsLate = requires {
  requires Algorithm::x_is_late;
};

// After a claim or a breakdown, computes b - A x and decides by it how the solve goes on. A start
// applies the preconditioner, which is not needed where the claim holds. (That of a method which
// restarts does not.)
TRIREME_RUNS_EXECUTOR
template <class Exec, class Algorithm, class M>
TRIREME_HD void settle(Exec& e, const Algorithm& method, const M& m) {
  if ((e.inexact() || kReplacesResidual<Algorithm>)&&e.needs_true_residual()) method.correct(e, m);
  if constexpr (!M::pointwise && !Algorithm::info.restarts) {
    if (e.needs_true_residual()) {
      e.exact_product(method.x, method.product_vector());
      e.pass(PlainResidualNorm{method.b, method.product_vector(), method.norm}, Confirm{});
    }
  }
  if (e.needs_true_residual()) method.start(e, m, false);
}

// Runs iterations until the solve has ended.
TRIREME_RUNS_EXECUTOR
template <class Exec, class Algorithm, class M>
TRIREME_HD void run_loop(Exec& e, const Algorithm& method, const M& m) {
  while (e.running()) {
    e.repeat([&] { method.iteration(e, m); });
    if constexpr (Algorithm::info.restarts) method.end_cycles(e, m);
    if constexpr (kXIsLate<Algorithm>) method.complete_x(e);
    settle(e, method, m);
  }
}

// Makes the norm that is tested heed the sizes of rows, where they differ. `q` is a work vector.
TRIREME_RUNS_EXECUTOR
template <class Exec>
TRIREME_HD void weigh_rows(Exec& e, const SystemVectors& v, bool x_is_zero, double* q) {
  if (v.norm.rows.from == RowWeights::From::nothing) return;
  if (!x_is_zero) e.exact_product(v.x, q);
  e.pass(RowNorms{v.b, x_is_zero ? nullptr : q, v.norm.rows.inverse_sizes}, SetRowParts{});
}

// Runs a whole solve. A claim of convergence counts only when b - A x confirms it.
TRIREME_RUNS_EXECUTOR
template <class Exec, class Algorithm, class M>
TRIREME_HD void run_solve(Exec& e, const Algorithm& method, const M& m) {
  if constexpr (Exec::has_row_weights)
    weigh_rows(e, method, method.zero_guess, method.product_vector());
  if (!method.zero_guess) method.reference_norm(e, m);
  method.start(e, m, method.zero_guess);
  run_loop(e, method, m);
}

// Runs the rest of a solve that was stopped.
TRIREME_RUNS_EXECUTOR
template <class Exec, class Algorithm, class M>
TRIREME_HD void run_rest(Exec& e, const Algorithm& method, const M& m) {
  weigh_rows(e, method, false, method.product_vector());
  method.go_on(e, m);
  if constexpr (kXIsLate<Algorithm>) method.complete_x(e);
  settle(e, method, m);
  run_loop(e, method, m);
}

}  // namespace trireme::solvers
