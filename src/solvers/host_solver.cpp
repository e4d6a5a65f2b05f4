// SPDX-License-Identifier: BSD-3-Clause
// The driver with the host as its backend.
#include "solvers/host_solver.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "base/error.hpp"
#include "solvers/driver.hpp"
#include "solvers/executors/host_executor.hpp"
#include "solvers/memory_agreement.hpp"
#include "sparse/permuted.hpp"

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

// The Backend of driver.hpp on the host.
class HostBackend {
 public:
  static constexpr bool on_host = true;

  explicit HostBackend(HostSystem& system)
      : system_(system), rows_(system.rows()), stride_((rows_ + 7) / 8 * 8) {}

  std::int64_t rows() const { return rows_; }
  double* vector(int k) { return work_.data() + k * stride_; }
  const double* vector(int k) const { return work_.data() + k * stride_; }
  double* preconditioner_vector(int k) { return of_preconditioner_.data() + k * stride_; }

  void choose_floats(bool wanted) { floats_ = wanted && system_.takes_floats(); }
  bool vectors_in_fp32() const { return floats_; }
  void allocate(int vectors, int of_preconditioner) {
    make(work_, vectors);
    make(of_preconditioner_, of_preconditioner);
  }
  void hold(int vectors) {
    const auto allocate = [&] {
      if (std::ssize(work_) >= stride_ * vectors) return;
      Array<double>().swap(work_);
      make(work_, vectors);
    };
    const double failures = processes_without_memory(allocate, [&](double mine) {
      system_.sum({&mine, 1});
      return mine;
    });
    if (failures > 0)
      fail(ExitCode::resource,
           "{} of {} processes have not enough memory to go on in double precision ({} vectors of "
           "{} rows on this process); use precision double and shorter cycles (restart)",
           failures, system_.processes(), vectors, rows_);
  }

  void allocate_cycle(std::int32_t length, std::int64_t elements) {
    arrays_.resize(static_cast<std::size_t>(elements));
    cycle_ = {length, arrays_.data()};
  }

  // `values` are in the caller's row order; the kept ones are in the system's.
  const double* keep_rows(Array<double> values) {
    if (in_order()) values = in_systems_order(values);
    return kept_.emplace_back(std::move(values)).data();
  }
  const double* keep_row_scale(Array<double> values) {
    row_scale_ = in_order() ? in_systems_order(values) : std::move(values);
    return row_scale_.data();
  }
  const RowGroup* keep(Array<RowGroup> groups) {
    groups_ = std::move(groups);
    return groups_.data();
  }
  const double* invert_blocks(const BlockRows& blocks, const PreconditionerSpec& spec) {
    if (in_order()) throw Error(ExitCode::internal, "block Jacobi needs the caller's row order");
    return keep_rows(solvers::invert_blocks(blocks, spec));
  }

  bool inexact(const Tolerances&, bool /*goes_on*/) const { return floats_ || system_.inexact(); }
  Variant choose(Method method, Variant asked, const Jacobi*) const {
    if (has_variant<HostMethodList>(method, asked)) return asked;
    if (!has_variant(method, Variant::single_reduction)) return Variant::classic;
    if (asked != Variant::automatic) return asked;
    // In FP32 single reduction takes a tenth more iterations.
    return system_.processes() > 1 && !floats_ ? Variant::single_reduction : Variant::classic;
  }

  struct Here {
    const double* b;
    double* x;
  };
  // b and x where they are, or copies of them in the system's row order.
  Here bring(const SolveVectors& vectors) {
    if (!in_order()) return {vectors.b.data(), vectors.x.data()};
    b_.resize(vectors.b.size());
    x_.resize(vectors.x.size());
    permute<double>(vectors.b, system_.order(), b_);
    if (!vectors.zero_guess) permute<double>(vectors.x, system_.order(), x_);
    return {b_.data(), x_.data()};
  }
  // Completes x in the caller's row order.
  void give_back(const SolveVectors& vectors) const {
    if (in_order()) permute_back<double>(x_, system_.order(), vectors.x);
  }
  Array<double> in_systems_order(std::span<const double> values) const {
    Array<double> result(values.begin(), values.end());
    if (in_order()) permute<double>(values, system_.order(), result);
    return result;
  }
  Array<double> in_callers_order(std::span<const double> values) const {
    Array<double> result(values.begin(), values.end());
    if (in_order()) permute_back<double>(values, system_.order(), result);
    return result;
  }
  void forget_loop() {}
  void forget_kept() { kept_.clear(); }

  template <class Algorithm, class M>
  State run(const M& m, const Job& job) {
    const auto rows = static_cast<std::size_t>(rows_);
    if (job.zero_guess) std::fill_n(job.x, rows, 0.0);
    State state = job.state;
    const NormTerm norm = norm_term(state.rule, job.row_weights);
    cycle_.in_fp32 = !job.exactly;
    const SystemVectors vectors{job.b, job.x, job.zero_guess, norm, cycle_};
    const WorkMemory work{work_.data(), stride_};
    if constexpr (kHasFloats<Algorithm, M>) {
      if (floats_ && !job.exactly) {
        HostExecutor executor(system_, state, job.observer, {}, true);
        run_loop_of(executor, Algorithm::Narrow::with(vectors, work), in_fp32(m), job, state);
        return state;
      }
    }
    const Algorithm algorithm = Algorithm::with(vectors, work);
    Iterate iterate{{job.x, rows}, {}, 0, system_.order()};
    if (Algorithm::info.restarts) iterate = {};
    if (const double* direction = algorithm.lagging_direction())
      iterate.direction = {direction, rows};
    HostExecutor executor(system_, state, job.observer, iterate, system_.inexact() && !job.exactly);
    run_loop_of(executor, algorithm, m, job, state);
    return state;
  }

 private:
  template <class Algorithm, class M>
  static void run_loop_of(HostExecutor& executor, const Algorithm& algorithm, const M& m,
                          const Job& job, const State& state) {
    const std::int64_t before = state.iterations;
    if (job.goes_on)
      run_rest(executor, algorithm, m);
    else
      run_solve(executor, algorithm, m);
    const bool came_anywhere = !job.goes_on || state.iterations > before;
    if (can_go_on(state) && came_anywhere) algorithm.leave_direction(executor, m);
  }

  // The preconditioner with its D^-1, if it has one, as a loop with FP32 vectors reads it.
  template <class M>
  M in_fp32(const M& m) {
    M narrow = m;
    if constexpr (requires { m.in_fp32; }) {
      if (!m.inverse_diagonal.values) return narrow;
      diagonal_in_fp32_.resize(static_cast<std::size_t>(rows_));
      std::transform(m.inverse_diagonal.values, m.inverse_diagonal.values + rows_,
                     diagonal_in_fp32_.begin(), [](double d) { return static_cast<float>(d); });
      narrow.in_fp32 = diagonal_in_fp32_.data();
    }
    return narrow;
  }

  bool in_order() const { return !system_.order().empty(); }
  void make(Array<double>& memory, int vectors) const {
    memory.resize(static_cast<std::size_t>(stride_ * vectors));
    // The first touch places each row's memory near the thread that will work on the row.
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < stride_; ++i)
      for (std::int64_t k = i; k < std::ssize(memory); k += stride_) memory[k] = 0;
  }

  HostSystem& system_;
  std::int64_t rows_, stride_;
  Array<double> work_, of_preconditioner_, b_, x_, arrays_;
  Array<float> diagonal_in_fp32_;
  bool floats_ = false;  // loops have FP32 vectors unless they run exactly
  CycleWork cycle_;
  std::list<Array<double>> kept_;
  Array<double> row_scale_;
  Array<RowGroup> groups_;
};

struct HostSolver::Work {
  HostBackend backend;
  Driver<HostBackend> driver;

  Work(HostSystem& system, Method method, Variant variant, const PreconditionerSpec& spec,
       const MethodOptions& options)
      : backend(system), driver(backend, method, variant, spec, options) {}
};

HostSolver::HostSolver(HostSystem& system, Method method, Variant variant,
                       const PreconditionerSpec& spec, const MethodOptions& options)
    : work_(std::make_unique<Work>(system, method, variant, spec, options)) {}
HostSolver::~HostSolver() = default;

SolveResult HostSolver::solve(const SolveVectors& vectors, const Tolerances& rule,
                              const IterationObserver& observer) {
  const auto here = work_->backend.bring(vectors);
  const SolveResult result =
      work_->driver.solve(here.b, here.x, vectors.zero_guess, rule, observer);
  work_->backend.give_back(vectors);
  return result;
}

void HostSolver::renew(const PreconditionerSpec& spec) { work_->driver.renew(spec); }

StoppedSolve HostSolver::stopped() const {
  StoppedSolve stopped = work_->driver.last();
  for (const int k : work_->driver.directions()) {
    const double* const from = std::as_const(work_->backend).vector(k);
    stopped.directions.push_back(
        work_->backend.in_callers_order({from, static_cast<std::size_t>(work_->backend.rows())}));
  }
  return stopped;
}

void HostSolver::go_on(const StoppedSolve& stopped) {
  if (stopped.new_space) return work_->driver.go_on(stopped);
  const std::span<const int> places = work_->driver.directions();
  require_directions(stopped, places.size(), work_->backend.rows());
  work_->driver.make_room_for_directions();
  for (std::size_t k = 0; k < places.size(); ++k)
    std::ranges::copy(work_->backend.in_systems_order(stopped.directions[k]),
                      work_->backend.vector(places[k]));
  work_->driver.go_on(stopped);
}

bool HostSolver::vectors_in_fp32() const { return work_->backend.vectors_in_fp32(); }
Variant HostSolver::variant() const { return work_->driver.variant(); }
const PreparedPreconditioner& HostSolver::preconditioner() const {
  return work_->driver.preconditioner();
}
void HostSolver::weigh_rows(const RowScale& scale) { work_->driver.weigh_rows(scale); }
const RowWeights& HostSolver::row_weights() const { return work_->driver.row_weights(); }

}  // namespace trireme::solvers
