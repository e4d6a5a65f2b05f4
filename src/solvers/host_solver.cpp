// SPDX-License-Identifier: BSD-3-Clause
// The solver texts on the host executor.
#include "solvers/host_solver.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "solvers/executors/host_executor.hpp"
#include "solvers/methods/bicgstab.hpp"
#include "solvers/methods/cg.hpp"

namespace trireme::solvers {
namespace {

constexpr int cg_vectors = 5;        // r z p q s
constexpr int bicgstab_vectors = 7;  // r r0 p p^ v s^ t
constexpr int chebyshev_vectors = 2;

}  // namespace

std::span<const int> places_of_directions(Method method) {
  static constexpr int cg[] = {2};           // p
  static constexpr int bicgstab[] = {1, 2};  // r0 p
  if (method == Method::cg) return cg;
  return bicgstab;
}

void require_directions(const StoppedSolve& stopped, std::size_t vectors, std::int64_t rows) {
  if (stopped.directions.size() != vectors ||
      std::ranges::any_of(stopped.directions, [&](const Array<double>& direction) {
        return std::ssize(direction) != rows;
      }))
    fail(ExitCode::internal, "a stopped solve goes on with the directions of another system");
}

void require_norm(const Tolerances& rule) {
  if (rule.judged_by_caller || rule.norm == NormKind::none)
    fail(ExitCode::usage,
         "mixed precision corrects residuals by their norm: it needs one, and the default "
         "convergence test");
}

HostSolver::HostSolver(HostSystem& system, Method method, Variant variant,
                       const PreconditionerSpec& spec)
    : system_(system),
      method_(method),
      variant_(variant != Variant::automatic ? variant
               : system.processes() > 1      ? Variant::single_reduction
                                             : Variant::classic),
      prepared_(prepare(spec, system.rows())),
      preconditioner_(host_view(prepared_)),
      stride_((system.rows() + 7) / 8 * 8) {
  const bool chebyshev = preconditioner_.kind == Preconditioner::Kind::chebyshev;
  if (chebyshev && method == Method::bicgstab)
    fail(ExitCode::usage, "the Chebyshev polynomial is for symmetric matrices: use it with cg");
  const int vectors = method == Method::cg ? cg_vectors : bicgstab_vectors;
  work_.resize(static_cast<std::size_t>(stride_ * (vectors + (chebyshev ? chebyshev_vectors : 0))));
#pragma omp parallel for schedule(static)  // first touch by the threads that will use the rows
  for (std::int64_t i = 0; i < stride_; ++i)
    for (std::int64_t k = i; k < static_cast<std::int64_t>(work_.size()); k += stride_)
      work_[k] = 0;
  if (!chebyshev) return;

  preconditioner_.direction = work_.data() + vectors * stride_;
  preconditioner_.product = preconditioner_.direction + stride_;
  Preconditioner jacobi = preconditioner_;
  jacobi.kind = Preconditioner::Kind::pointwise;
  std::swap(preconditioner_, jacobi);  // solve() below is the plain Jacobi-CG
  LanczosBounds bounds;
  const Array<double> b = random_right_hand_side(spec.first_row, system.rows());
  Array<double> x(b.size());
  IterationObserver observer;
  observer.iteration = [&](const State& s, const Iterate&) {
    if (s.iterations > 0 && s.alpha > 0) bounds.add(s.alpha, s.beta);
    return Reason::running;
  };
  Tolerances rule;
  rule.rtol = 1e-10;
  rule.max_iterations = spec.estimation_steps;
  std::swap(variant_, variant = Variant::classic);
  solve({b, x, true}, rule, observer);
  variant_ = variant;
  std::swap(preconditioner_, jacobi);
  set_interval(preconditioner_, bounds);
}

SolveResult HostSolver::solve(const SolveVectors& problem, const Tolerances& rule,
                              const IterationObserver& observer) {
  const std::optional<StoppedSolve> before = std::exchange(going_on_, std::nullopt);
  State state = before ? state_of(*before) : State();
  state.rule = rule;
  std::int64_t exact_from = before ? before->exact_from : -1;
  if (system_.inexact()) {
    require_norm(rule);
    if (exact_from < 0) state.correct_below = kCorrectBelow;
  }
  const std::size_t rows = static_cast<std::size_t>(system_.rows());
  if (problem.zero_guess) std::fill(problem.x.begin(), problem.x.end(), 0.0);
  Iterate iterate{problem.x, {}, 0};
  const bool classic = method_ == Method::cg && variant_ == Variant::classic;
  if (classic) iterate.direction = {vector(2), rows};
  const auto run = [&](bool zero_guess, bool exactly, bool goes_on) {
    HostExecutor executor(system_, state, observer, iterate, exactly);
    if (method_ == Method::cg) {
      const CgVectors v{
          problem.b.data(), problem.x.data(), vector(0),
          vector(1),        vector(2),        vector(3),
          vector(4),        zero_guess,       NormTerm{rule.norm == NormKind::preconditioned}};
      if (goes_on && classic) {
        cg_go_on(executor, v, preconditioner_);
        cg_loop(executor, v, preconditioner_);
      } else if (goes_on) {
        single_reduction_cg_go_on(executor, v, preconditioner_);
        single_reduction_cg_loop(executor, v, preconditioner_);
      } else if (classic) {
        cg(executor, v, preconditioner_);
      } else {
        single_reduction_cg(executor, v, preconditioner_);
      }
      const bool came_anywhere = !goes_on || state.iterations > before->iterations;
      if (can_go_on(state) && !classic && came_anywhere) leave_direction(executor, v);
    } else {
      const BicgstabVectors v{problem.b.data(), problem.x.data(), vector(0), vector(1), vector(2),
                              vector(3),        vector(4),        vector(5), vector(6), zero_guess};
      if (goes_on) {
        bicgstab_go_on(executor, v, preconditioner_);
        bicgstab_loop(executor, v, preconditioner_);
      } else {
        bicgstab(executor, v, preconditioner_);
      }
      if (can_go_on(state)) leave_direction(executor, v, preconditioner_);
    }
  };
  run(problem.zero_guess, exact_from >= 0, before.has_value());
  if (system_.inexact() && exact_from < 0 && gave_up(state)) {
    exact_from = state.iterations;
    const bool from_zero = go_on_exactly(state);
    if (from_zero) std::fill(problem.x.begin(), problem.x.end(), 0.0);
    run(from_zero, true, false);
  }
  last_ = scalars_of(state, exact_from);
  return {.reason = state.reason,
          .iterations = state.iterations,
          .norm = state.norm,
          .replacements = state.replacements,
          .stagnated = stagnated(state),
          .exact_from = exact_from,
          .variant = method_ == Method::cg ? variant_ : Variant::classic};
}

StoppedSolve HostSolver::stopped() const {
  StoppedSolve stopped = last_;
  for (const int k : places_of_directions(method_)) {
    const double* const from = work_.data() + k * stride_;
    stopped.directions.emplace_back(from, from + system_.rows());
  }
  return stopped;
}

void HostSolver::go_on(const StoppedSolve& stopped) {
  const std::span<const int> places = places_of_directions(method_);
  require_directions(stopped, places.size(), system_.rows());
  for (std::size_t k = 0; k < places.size(); ++k)
    std::ranges::copy(stopped.directions[k], vector(places[k]));
  going_on_ = {stopped.iterations, stopped.reference, stopped.replacements, stopped.exact_from, {}};
}

}  // namespace trireme::solvers
