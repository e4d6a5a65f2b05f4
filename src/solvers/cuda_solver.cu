// SPDX-License-Identifier: BSD-3-Clause
// Device memory of a solve, and the choice of the executor.
#include "solvers/cuda_solver.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/stream.hpp"
#include "kernels/permutation.hpp"
#include "solvers/executors/graph_executor.cuh"
#include "solvers/executors/loop_window.cuh"
#include "solvers/executors/persistent.hpp"
#include "solvers/methods/bicgstab.hpp"
#include "solvers/methods/cg.hpp"
#include "solvers/preconditioners/block_inverse.hpp"

namespace trireme::solvers {
namespace {

constexpr int kCgVectors = 5;        // r z p q s
constexpr int kBicgstabVectors = 7;  // r r0 p p^ v s^ t
constexpr int kDefaultUnroll = 4;
constexpr int kDefaultBatch = 4;
constexpr std::int64_t kSingleReductionUpToRows = 40'000;

}  // namespace

class CudaSolver::Work {
 public:
  Work(CudaSystem& system, Method method, Variant variant, const PreconditionerSpec& spec,
       const CudaOptions& options)
      : system_(system),
        method_(method),
        rows_(system.rows()),
        stride_((system.rows() + 31) / 32 * 32) {
    const bool chebyshev = spec.kind == PreconditionerSpec::Kind::chebyshev;
    if (chebyshev && method == Method::bicgstab)
      throw Error(ExitCode::usage,
                  "the Chebyshev polynomial is for symmetric matrices: use it with cg");
    if (spec.kind == PreconditionerSpec::Kind::blocks && !system.order().empty())
      throw Error(ExitCode::internal, "block Jacobi needs the caller's row order");
    const int vectors = method == Method::cg ? kCgVectors : kBicgstabVectors;
    vectors_ = DeviceBuffer<double>(
        static_cast<std::size_t>(stride_) * (vectors + (chebyshev ? 2 : 0)), stream_);
    fill_zero(vectors_.span(), stream_);  // a pass also reads what beta = 0 makes it drop
    if (spec.kind == PreconditionerSpec::Kind::blocks)
      invert_blocks(spec);
    else
      upload(prepare(spec, rows_));
    choose(variant, options);
    window_.emplace(rows_, system_.dot_partials(), stream_);
    if (chebyshev) {
      preconditioner_.direction = vector(vectors);
      preconditioner_.product = vector(vectors + 1);
      find_interval(spec);
    }
  }

  SolveResult solve(const SolveVectors& problem, const Tolerances& rule,
                    const IterationObserver& observer) {
    if (b_.size() == 0 && rows_ > 0) {
      b_ = DeviceBuffer<double>(rows_, stream_);
      x_ = DeviceBuffer<double>(rows_, stream_);
    }
    copy_to_device(problem.b, b_.span(), stream_);
    if (!problem.zero_guess) copy_to_device(std::span<const double>(problem.x), x_.span(), stream_);
    const SolveResult outcome =
        run_in_order(b_.view(), x_.span(), problem.zero_guess, rule, observer);
    copy_to_host(x_.view(), problem.x, stream_);
    synchronize(stream_);
    return outcome;
  }

  SolveResult solve(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
                    StreamRef producer, const Tolerances& rule, const IterationObserver& observer) {
    ready_.record(producer);
    stream_.wait(ready_);
    return run_in_order(b, x, zero_guess, rule, observer);
  }

  StoppedSolve stopped() const {
    const DeviceSpan<const std::int32_t> order = system_.order();
    const DeviceBuffer<double> in_callers_order(order.empty() ? 0 : rows_, stream_);
    StoppedSolve stopped = last_;
    for (const int k : places_of_directions(method_)) {
      DeviceSpan<const double> from = direction(k);
      if (!order.empty()) {
        permute_back(from, order, in_callers_order.span(), stream_);
        from = in_callers_order.view();
      }
      Array<double>& into = stopped.directions.emplace_back(rows_);
      copy_to_host(from, std::span<double>(into), stream_);
      synchronize(stream_);
    }
    return stopped;
  }

  void go_on(const StoppedSolve& stopped) {
    const std::span<const int> places = places_of_directions(method_);
    require_directions(stopped, places.size(), rows_);
    const DeviceSpan<const std::int32_t> order = system_.order();
    for (std::size_t k = 0; k < places.size(); ++k) {
      const std::span<const double> from(stopped.directions[k]);
      if (order.empty()) {
        copy_to_device(from, direction(places[k]), stream_);
      } else {
        const DeviceBuffer<double> in_callers_order = to_device(from, stream_);
        permute(in_callers_order.view(), order, direction(places[k]), stream_);
      }
      synchronize(stream_);
    }
    going_on_ = {
        stopped.iterations, stopped.reference, stopped.replacements, stopped.exact_from, {}};
  }

  CudaMode mode() const { return mode_; }
  Variant variant() const { return variant_; }
  const Preconditioner& preconditioner() const { return preconditioner_; }

 private:
  DeviceSpan<double> direction(int k) const { return {vector(k), static_cast<std::size_t>(rows_)}; }
  double* vector(int k) const { return vectors_.data() + k * stride_; }

  void choose(Variant variant, const CudaOptions& options) {
    mode_ = options.mode;
    unroll_ = options.unroll;
    // In the persistent kernel a wait costs what some 40000 rows' updates do (measured, H200).
    const Variant if_persistent = method_ == Method::bicgstab         ? Variant::classic
                                  : variant != Variant::automatic     ? variant
                                  : rows_ <= kSingleReductionUpToRows ? Variant::single_reduction
                                                                      : Variant::classic;
    if (mode_ != CudaMode::graph && mode_ != CudaMode::stepped && system_.processes() == 1)
      shape_ = plan_persistent(system_.csr(), method_, if_persistent, preconditioner_,
                               options.through_l2, stream_);
    if (mode_ == CudaMode::automatic)
      mode_ = shape_.blocks > 0 ? CudaMode::persistent : CudaMode::graph;
    else if (mode_ == CudaMode::persistent && shape_.blocks == 0)
      throw Error(
          ExitCode::usage,
          "the persistent kernel needs one process, a pointwise preconditioner and a matrix "
          "as CSR on the device that fits into shared memory");
    if (method_ == Method::bicgstab)
      variant_ = Variant::classic;
    else if (mode_ == CudaMode::persistent)
      variant_ = if_persistent;
    else if (variant == Variant::automatic)
      variant_ = system_.sums_are_cheap() ? Variant::classic : Variant::single_reduction;
    else
      variant_ = variant;
    if (mode_ == CudaMode::persistent) {
      scratch_ = DeviceBuffer<char>(persistent_scratch_bytes(shape_, rows_), stream_);
      fill_zero(scratch_.span(), stream_);
    }
  }

  void upload(const PreparedPreconditioner& prepared) {
    inverse_diagonal_ = to_device(std::span<const double>(prepared.inverse_diagonal), stream_);
    if (const auto order = system_.order(); !order.empty() && !inverse_diagonal_.empty()) {
      const DeviceBuffer<double> callers = std::move(inverse_diagonal_);
      inverse_diagonal_ = DeviceBuffer<double>(rows_, stream_);
      permute(callers.view(), order, inverse_diagonal_.span(), stream_);
    }
    synchronize(stream_);
    preconditioner_ = host_view(prepared);
    preconditioner_.inverse_diagonal.values =
        inverse_diagonal_.size() > 0 ? inverse_diagonal_.data() : nullptr;
  }

  void invert_blocks(const PreconditionerSpec& spec) {
    const BlockRows blocks = block_rows(spec, rows_);
    const DeviceCsr<double> csr = system_.local_csr();
    if (spec.blocks.empty() && csr.rows != rows_)
      throw Error(ExitCode::usage,
                  "block Jacobi needs the diagonal blocks, or a CSR on the device");
    const Array<RowGroup> groups = blocks.groups();
    const DeviceBuffer<double> entries = to_device(spec.blocks, stream_);
    inverse_blocks_ = invert_blocks_on_device(blocks, csr, entries.view(), stream_);
    if (!blocks.natural) groups_ = to_device(std::span<const RowGroup>(groups), stream_);
    synchronize(stream_);
    preconditioner_.kind = Preconditioner::Kind::blocks;
    preconditioner_.block_size = blocks.size;
    preconditioner_.inverse_blocks = inverse_blocks_.data();
    preconditioner_.group = blocks.natural ? nullptr : groups_.data();
  }

  // Jacobi-CG with a random right-hand side, looked at step by step.
  void find_interval(const PreconditionerSpec& spec) {
    const Preconditioner polynomial = preconditioner_;
    const CudaMode mode = mode_;
    const Variant variant = variant_;
    preconditioner_.kind = Preconditioner::Kind::pointwise;
    mode_ = CudaMode::stepped;
    variant_ = Variant::classic;
    LanczosBounds bounds;
    IterationObserver observer;
    observer.iteration = [&](const State& s, const Iterate&) {
      if (s.iterations > 0 && s.alpha > 0) bounds.add(s.alpha, s.beta);
      return Reason::running;
    };
    Tolerances rule;
    rule.rtol = 1e-10;
    rule.max_iterations = spec.estimation_steps;
    const Array<double> b = random_right_hand_side(spec.first_row, rows_);
    Array<double> x(b.size());
    solve({b, x, true}, rule, observer);
    loop_.reset();
    preconditioner_ = polynomial;
    mode_ = mode;
    variant_ = variant;
    set_interval(preconditioner_, bounds);
  }

  // The system's order may not be the caller's: P A P^T (P x) = P b.
  SolveResult run_in_order(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
                           const Tolerances& rule, const IterationObserver& observer) {
    const DeviceSpan<const std::int32_t> order = system_.order();
    if (order.empty()) return run(b.data(), x.data(), zero_guess, rule, observer);
    if (permuted_b_.empty()) {
      permuted_b_ = DeviceBuffer<double>(rows_, stream_);
      permuted_x_ = DeviceBuffer<double>(rows_, stream_);
    }
    permute(b, order, permuted_b_.span(), stream_);
    if (!zero_guess) permute(x, order, permuted_x_.span(), stream_);
    const SolveResult outcome =
        run(permuted_b_.data(), permuted_x_.data(), zero_guess, rule, observer);
    permute_back(permuted_x_.view(), order, x, stream_);
    synchronize(stream_);
    return outcome;
  }

  SolveResult run(const double* b, double* x, bool zero_guess, const Tolerances& rule,
                  const IterationObserver& observer) {
    const std::optional<StoppedSolve> before = std::exchange(going_on_, std::nullopt);
    State state = before ? state_of(*before) : State();
    state.rule = rule;
    std::int64_t exact_from = before ? before->exact_from : -1;
    const bool persistent = mode_ == CudaMode::persistent && !rule.judged_by_caller && !before;
    // What the persistent kernel has begun goes on with the matrix that it keeps, in FP64.
    const bool exactly = before && (exact_from >= 0 || mode_ == CudaMode::persistent);
    const bool inexact = system_.inexact() && !persistent && !exactly;
    if (inexact) {
      require_norm(rule);
      state.correct_below = kCorrectBelow;
    }
    const CgVectors cg_vectors{
        b,         x,          vector(0),
        vector(1), vector(2),  vector(3),
        vector(4), zero_guess, NormTerm{rule.norm == NormKind::preconditioned}};
    if (persistent) {
      if (method_ == Method::cg)
        launch_persistent_cg(cg_vectors, preconditioner_, variant_, state, system_.csr(), shape_,
                             *window_, scratch_.data(), stream_);
      else
        launch_persistent_bicgstab(bicgstab_vectors(b, x, zero_guess), preconditioner_, state,
                                   system_.csr(), shape_, *window_, scratch_.data(), stream_);
      state = window_->wait_for_result(stream_, observer);
      if (can_go_on(state)) leave_directions_of_persistent(state, cg_vectors, observer);
    } else {
      if (zero_guess) fill_zero(DeviceSpan<double>(x, rows_), stream_);
      window_->start(state, stream_);
      state = run_graph(cg_vectors, rule, observer, exactly, before ? &*before : nullptr);
    }
    if (inexact && gave_up(state)) {
      exact_from = state.iterations;
      CgVectors again = cg_vectors;
      again.zero_guess = go_on_exactly(state);
      if (again.zero_guess) fill_zero(DeviceSpan<double>(x, rows_), stream_);
      window_->set(state, stream_);
      state = run_graph(again, rule, observer, true, nullptr);
    }
    last_ = scalars_of(state, exact_from);
    SolveResult outcome;
    outcome.reason = state.reason;
    outcome.iterations = state.iterations;
    outcome.norm = state.norm;
    outcome.replacements = state.replacements;
    outcome.stagnated = stagnated(state);
    outcome.exact_from = exact_from;
    outcome.variant = variant_;
    return outcome;
  }

  BicgstabVectors bicgstab_vectors(const double* b, double* x, bool zero_guess) const {
    return {b,         x,         vector(0), vector(1), vector(2),
            vector(3), vector(4), vector(5), vector(6), zero_guess};
  }

  // exactly: all products are the system's exact one. before: what the solve goes on from, or null.
  State run_graph(const CgVectors& cg_vectors, const Tolerances& rule,
                  const IterationObserver& observer, bool exactly, const StoppedSolve* before) {
    const Recording recording = system_.recording();
    const bool kernels_sum = system_.processes() == 1 || system_.peer_sums();
    LoopKind kind =
        recording == Recording::loop && kernels_sum ? LoopKind::conditional : LoopKind::batches;
    if (mode_ == CudaMode::stepped || rule.judged_by_caller || recording == Recording::none)
      kind = LoopKind::stepped;
    const LoopKey key{cg_vectors.x, rule.norm, kind, exactly};
    if (!(key == loop_key_)) loop_.reset();
    loop_key_ = key;
    const int unroll = unroll_ > 0                 ? unroll_
                       : kind == LoopKind::batches ? kDefaultBatch
                                                   : kDefaultUnroll;
    GraphExecutor executor(system_, *window_, stream_, observer, kind, unroll, loop_, exactly);
    if (method_ == Method::bicgstab)
      run_bicgstab(executor, bicgstab_vectors(cg_vectors.b, cg_vectors.x, cg_vectors.zero_guess),
                   before);
    else
      run_cg(executor, cg_vectors, before);
    const State state = executor.state();
    system_.check();
    return state;
  }

  // By launches: in the persistent kernel it would cost registers.
  void leave_directions_of_persistent(const State& state, const CgVectors& v,
                                      const IterationObserver& observer) {
    window_->set(state, stream_);
    GraphExecutor executor(system_, *window_, stream_, observer, LoopKind::stepped, 1, loop_, true);
    if (method_ == Method::bicgstab)
      leave_direction(executor, bicgstab_vectors(v.b, v.x, v.zero_guess), preconditioner_);
    else if (variant_ == Variant::single_reduction)
      leave_direction(executor, v);
  }

  void run_cg(GraphExecutor& executor, const CgVectors& v, const StoppedSolve* before) const {
    const bool single_reduction = variant_ == Variant::single_reduction;
    if (before && single_reduction) {
      single_reduction_cg_go_on(executor, v, preconditioner_);
      single_reduction_cg_loop(executor, v, preconditioner_);
    } else if (before) {
      cg_go_on(executor, v, preconditioner_);
      cg_loop(executor, v, preconditioner_);
    } else if (single_reduction) {
      single_reduction_cg(executor, v, preconditioner_);
    } else {
      cg(executor, v, preconditioner_);
    }
    const State& state = executor.state();
    if (!can_go_on(state)) return;
    const bool came_anywhere = !before || state.iterations > before->iterations;
    if (single_reduction && came_anywhere) leave_direction(executor, v);
  }

  void run_bicgstab(GraphExecutor& executor, const BicgstabVectors& v,
                    const StoppedSolve* before) const {
    if (before) {
      bicgstab_go_on(executor, v, preconditioner_);
      bicgstab_loop(executor, v, preconditioner_);
    } else {
      bicgstab(executor, v, preconditioner_);
    }
    if (can_go_on(executor.state())) leave_direction(executor, v, preconditioner_);
  }

  // What the captured loop depends on.
  struct LoopKey {
    const double* x = nullptr;
    NormKind norm = NormKind::none;
    LoopKind kind = LoopKind::stepped;
    bool exactly = false;
    bool operator==(const LoopKey&) const = default;
  };

  CudaSystem& system_;
  Method method_;
  Variant variant_ = Variant::classic;
  CudaMode mode_ = CudaMode::graph;
  int unroll_ = 0;
  std::int64_t rows_, stride_;
  Stream stream_;
  Event ready_{Timing::no};
  DeviceBuffer<double> vectors_, inverse_diagonal_, inverse_blocks_, b_, x_, permuted_b_,
      permuted_x_;
  DeviceBuffer<RowGroup> groups_;
  DeviceBuffer<char> scratch_;
  PersistentShape shape_;
  Preconditioner preconditioner_;
  std::optional<LoopWindow> window_;
  std::optional<LoopGraph> loop_;
  LoopKey loop_key_;
  StoppedSolve last_;  // as HostSolver's
  std::optional<StoppedSolve> going_on_;
};

CudaSolver::CudaSolver(CudaSystem& system, Method method, Variant variant,
                       const PreconditionerSpec& spec, const CudaOptions& options)
    : work_(std::make_unique<Work>(system, method, variant, spec, options)) {}
CudaSolver::~CudaSolver() = default;

SolveResult CudaSolver::solve(const SolveVectors& problem, const Tolerances& rule,
                              const IterationObserver& observer) {
  return work_->solve(problem, rule, observer);
}

SolveResult CudaSolver::solve(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
                              StreamRef producer, const Tolerances& rule,
                              const IterationObserver& observer) {
  return work_->solve(b, x, zero_guess, producer, rule, observer);
}

StoppedSolve CudaSolver::stopped() const { return work_->stopped(); }
void CudaSolver::go_on(const StoppedSolve& stopped) { work_->go_on(stopped); }

CudaMode CudaSolver::mode() const { return work_->mode(); }
Variant CudaSolver::variant() const { return work_->variant(); }
const Preconditioner& CudaSolver::preconditioner() const { return work_->preconditioner(); }

}  // namespace trireme::solvers
