// SPDX-License-Identifier: BSD-3-Clause
// The driver with the host as its backend.
#include "solvers/host_solver.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "base/error.hpp"
#include "solvers/driver.hpp"
#include "solvers/executors/host_executor.hpp"

namespace trireme::solvers {

void require_directions(const StoppedSolve& stopped, std::size_t vectors, std::int64_t rows) {
  if (stopped.directions.size() != vectors ||
      std::ranges::any_of(stopped.directions, [&](const Array<double>& direction) {
        return std::ssize(direction) != rows;
      }))
    fail(ExitCode::internal,
         "a solve cannot go on: the directions are not {} vectors of {} rows, so they belong to "
         "another system or method",
         vectors, rows);
}

void require_norm(const Tolerances& rule) {
  if (rule.judged_by_caller || rule.norm == NormKind::none)
    fail(ExitCode::usage,
         "mixed precision decides by the residual norm when to correct the residual; use a norm "
         "and the default convergence test, or full precision");
}

namespace {

// The Backend of driver.hpp on the host.
class HostBackend {
 public:
  explicit HostBackend(HostSystem& system)
      : system_(system), rows_(system.rows()), stride_((rows_ + 7) / 8 * 8) {}

  std::int64_t rows() const { return rows_; }
  double* vector(int k) { return work_.data() + k * stride_; }
  const double* vector(int k) const { return work_.data() + k * stride_; }
  double* preconditioner_vector(int k) { return vector(vectors_ + k); }

  void allocate(int vectors, int of_preconditioner) {
    vectors_ = vectors;
    work_.resize(static_cast<std::size_t>(stride_ * (vectors + of_preconditioner)));
    // The first touch places each row's memory near the thread that will work on the row.
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < stride_; ++i)
      for (std::int64_t k = i; k < static_cast<std::int64_t>(work_.size()); k += stride_)
        work_[k] = 0;
  }

  const double* keep_rows(Array<double> values) {
    return kept_.emplace_back(std::move(values)).data();
  }
  const RowGroup* keep(Array<RowGroup> groups) {
    groups_ = std::move(groups);
    return groups_.data();
  }
  const double* invert_blocks(const BlockRows& blocks, const PreconditionerSpec& spec) {
    return keep_rows(solvers::invert_blocks(blocks, spec));
  }

  bool inexact(const Tolerances&, bool /*goes_on*/) const { return system_.inexact(); }
  Variant choose(Method method, Variant asked, const Jacobi*) const {
    if (!has_variant(method, Variant::single_reduction)) return Variant::classic;
    if (asked != Variant::automatic) return asked;
    return system_.processes() > 1 ? Variant::single_reduction : Variant::classic;
  }

  struct Here {
    const double* b;
    double* x;
  };
  Here bring(const SolveVectors& vectors) const { return {vectors.b.data(), vectors.x.data()}; }
  void forget_loop() {}

  template <class Text, class M>
  State run(const M& m, const Job& job) {
    const auto rows = static_cast<std::size_t>(rows_);
    if (job.zero_guess) std::fill_n(job.x, rows, 0.0);
    State state = job.state;
    const NormTerm norm{state.rule.norm == NormKind::preconditioned};
    const Text text = Text::with(SystemVectors{job.b, job.x, job.zero_guess, norm},
                                 [this](int k) { return vector(k); });
    Iterate iterate{{job.x, rows}, {}, 0};
    if (const double* direction = text.lagging_direction()) iterate.direction = {direction, rows};
    HostExecutor executor(system_, state, job.observer, iterate, job.exactly);
    const std::int64_t before = state.iterations;
    if (job.goes_on)
      run_rest(executor, text, m);
    else
      run_solve(executor, text, m);
    const bool came_anywhere = !job.goes_on || state.iterations > before;
    if (can_go_on(state) && came_anywhere) text.leave_direction(executor, m);
    return state;
  }

 private:
  HostSystem& system_;
  std::int64_t rows_, stride_;
  int vectors_ = 0;
  Array<double> work_;
  std::list<Array<double>> kept_;
  Array<RowGroup> groups_;
};

}  // namespace

struct HostSolver::Work {
  HostBackend backend;
  Driver<HostBackend> driver;

  Work(HostSystem& system, Method method, Variant variant, const PreconditionerSpec& spec)
      : backend(system), driver(backend, method, variant, spec) {}
};

HostSolver::HostSolver(HostSystem& system, Method method, Variant variant,
                       const PreconditionerSpec& spec)
    : work_(std::make_unique<Work>(system, method, variant, spec)) {}
HostSolver::~HostSolver() = default;

SolveResult HostSolver::solve(const SolveVectors& vectors, const Tolerances& rule,
                              const IterationObserver& observer) {
  return work_->driver.solve(vectors.b.data(), vectors.x.data(), vectors.zero_guess, rule,
                             observer);
}

StoppedSolve HostSolver::stopped() const {
  StoppedSolve stopped = work_->driver.last();
  for (const int k : work_->driver.directions()) {
    const double* const from = std::as_const(work_->backend).vector(k);
    stopped.directions.emplace_back(from, from + work_->backend.rows());
  }
  return stopped;
}

void HostSolver::go_on(const StoppedSolve& stopped) {
  const std::span<const int> places = work_->driver.directions();
  require_directions(stopped, places.size(), work_->backend.rows());
  for (std::size_t k = 0; k < places.size(); ++k)
    std::ranges::copy(stopped.directions[k], work_->backend.vector(places[k]));
  work_->driver.go_on(stopped);
}

Variant HostSolver::variant() const { return work_->driver.variant(); }
const PreparedPreconditioner& HostSolver::preconditioner() const {
  return work_->driver.preconditioner();
}

}  // namespace trireme::solvers
