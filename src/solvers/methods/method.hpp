// SPDX-License-Identifier: BSD-3-Clause
// What every Krylov method is made of: its traits, the vectors that it is given, and the loop that
// runs it.
//
// A method is a struct of pointers, one header of this folder and one line of list.hpp. Its
// functions are texts for an executor `e` (the host's, a CUDA graph's, or the persistent CUDA
// kernel's) and a preconditioner `m`:
//
//   reference_norm(e, m)   state.reference = ||b|| in the norm that is tested
//   start(e, m, zero)      r = b - A x (x = 0 where `zero`), and begin(): all scalars and
//   directions iteration(e, m)        one iteration, that is, one step with ends_iteration
//   correct(e, m)          inexact product: b - A x takes the place of r. May do nothing: then
//                          start() follows
//   go_on(e, m)            in place of start(), after a solve that was stopped: its directions are
//                          in the work vectors that `directions` names
//   leave_direction(e, m)  after a solve that was stopped: the work vectors that `directions` names
//                          become what go_on() needs
//
// An executor offers: rows(), product(x, y), exact_product(x, y), product_and_dot(x, y, step),
// pass(p), pass(p, step), finish(step), forget_sums(), repeat(body), running(), inexact() and
// needs_true_residual(). A pass does load, update and store for every row, so that an executor can
// have many rows in flight; an executor adds up the sums of passes in a fixed order. A step sees
// the sums that are pending, in the order of the text, and changes the scalars.
#pragma once

#include <cstdint>
#include <string_view>

#include "solvers/state.hpp"

namespace trireme::solvers {

// Forms of one method that give the same iterates in exact arithmetic.
//   classic           the fewest values moved
//   single_reduction  one point of global sums per iteration (CG only)
enum class Variant { automatic, classic, single_reduction };

struct MethodInfo {
  std::string_view name;        // in case files; the KSP type is trireme_<name>
  std::string_view petsc_name;  // PETSc's own KSP type of the same method
  std::string_view matrices;    // that it is for, in words
  bool symmetric = false;       // the matrix and the preconditioner must be symmetric
  bool right_preconditioned = false;
  bool tests_preconditioned_norm = false;  // beside the unpreconditioned one and none
  bool tests_natural_norm = false;
  int products = 1;  // with the matrix, per iteration
};

// What is squared and summed for the norm that the caller tests.
struct NormTerm {
  bool preconditioned = false;
  TRIREME_HD double operator()(double r, double z) const { return preconditioned ? z * z : r * r; }
};

// The vectors of a solve that are the caller's. All vectors of a solve have the same length, this
// process's rows.
struct SystemVectors {
  const double* b;
  double* x;
  bool zero_guess;
  NormTerm norm;
};

// After a claim or a breakdown: b - A x decides how the solve goes on.
TRIREME_EXECUTOR_TEXT
template <class Exec, class MethodText, class M>
TRIREME_HD void settle(Exec& e, const MethodText& method, const M& m) {
  if (e.inexact() && e.needs_true_residual()) method.correct(e, m);
  if (e.needs_true_residual()) method.start(e, m, false);
}

TRIREME_EXECUTOR_TEXT
template <class Exec, class MethodText, class M>
TRIREME_HD void run_loop(Exec& e, const MethodText& method, const M& m) {
  while (e.running()) {
    e.repeat([&] { method.iteration(e, m); });
    settle(e, method, m);
  }
}

// The whole solve. A claim of convergence by the recurrence counts only when b - A x confirms it.
TRIREME_EXECUTOR_TEXT
template <class Exec, class MethodText, class M>
TRIREME_HD void run_solve(Exec& e, const MethodText& method, const M& m) {
  if (!method.zero_guess) method.reference_norm(e, m);
  method.start(e, m, method.zero_guess);
  run_loop(e, method, m);
}

// The rest of a solve that was stopped.
TRIREME_EXECUTOR_TEXT
template <class Exec, class MethodText, class M>
TRIREME_HD void run_rest(Exec& e, const MethodText& method, const M& m) {
  method.go_on(e, m);
  settle(e, method, m);
  run_loop(e, method, m);
}

}  // namespace trireme::solvers
