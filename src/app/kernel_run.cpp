// SPDX-License-Identifier: BSD-3-Clause
// Build, solve, measure.
#include "app/kernel_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/memory.hpp"
#include "app/system_scale.hpp"
#include "base/stopwatch.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"
#include "parallel/interrupt.hpp"
#include "petsc/amat.hpp"
#include "petsc/exchange_options.hpp"
#include "petsc/ksp_solver.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"
#include "planning/bandwidth.hpp"

namespace trireme {
namespace {

// Absolute where there is nothing to compare with.
double relative(double norm, double of) { return of > 0 ? norm / of : norm; }

// What b - A x came to, beside what the solver says of it. Norms are those of the scaled system.
struct TrueResidual {
  double norm = 0;
  double unit = 0;                             // ||b||
  double reference = 0;                        // what rtol is a part of
  double last_norm = -1;                       // that the method tested; negative: none
  bool overflows = false, underflows = false;  // x, as it is scaled back to the caller's system
};

// Exit code 0 is a promise that ||b - A x|| was computed and is within the tolerance. A method may
// believe that it is there when it is not: its recurrence has drifted, it tests another norm, or
// none. Beyond the tolerance a fiftieth is allowed for rounding.
void confirm(Verdict& verdict, const PetscSolver& solver, const TrueResidual& residual) {
  constexpr double kWithRounding = 1.02;
  const std::size_t at = verdict.text.rfind('(');  // PETSc's name of the reason
  const std::string name = at == std::string::npos ? "" : verdict.text.substr(at);
  const auto is = [&](ExitCode code, const std::string& text) {
    verdict.converged = false;
    verdict.exit_code = code;
    verdict.text = text;
  };
  if (residual.overflows)
    return is(ExitCode::breakdown,
              "breakdown: the solution exceeds the largest double; scale the system " + name);
  if (!std::isfinite(residual.norm))
    return is(ExitCode::breakdown, "breakdown: b - A x is NaN or infinite " + name);
  if (!verdict.converged) return;
  const double target = std::max(solver.rtol() * residual.reference, solver.atol());
  if (residual.norm <= kWithRounding * target) return;
  if (residual.underflows)
    return is(
        ExitCode::breakdown,
        "breakdown: the solution is below the smallest normal double; scale the system " + name);
  if (residual.last_norm == 0)
    return is(ExitCode::breakdown,
              "breakdown: the norms of the loop fell below the range of double; scale rows and "
              "columns of the matrix " +
                  name);
  is(ExitCode::not_converged,
     fmt::format("not converged: by its own norm {} is done, but the true residual is {:.3g} of "
                 "||b|| where {:.3g} is asked for",
                 name, relative(residual.norm, residual.unit), relative(target, residual.unit)));
}

// All solves of one kernel, gathered into its outcome.
class Solves {
 public:
  Solves(const SolveContext& context, Amat& amat, PetscSolver& solver,
         const IterationCallback& on_iteration)
      : context_(context), amat_(amat), solver_(solver), on_iteration_(on_iteration) {
    petsc_check(MatCreateVecs(amat.mat(), x_.put(), b_.put()));
  }

  KernelRun all() {
    const std::size_t columns = context_.problem.rhs.size();
    solutions_.resize(columns);
    residuals_.resize(columns);
    errors_.resize(columns);
    const std::int64_t wanted = context_.spec.repeat * std::ssize(solutions_);
    keeper_.emplace(context_.matrix->comm, context_.keeping, solver_.engine(), solutions_);
    count_ = keeper_->solves_before();
    bool stopped = false;
    while (count_ < wanted && !stopped) {
      const std::size_t k = static_cast<std::size_t>(count_) % columns;
      if (k == 0 && !each_seconds_.empty() && !verdict_.converged) break;
      if (k == 0 && count_ > keeper_->solves_before()) keeper_->begin_round(count_);
      if (keeper_->is_solved(k)) {
        take_over(k);
        continue;
      }
      one(k);
      stopped = InterruptGuard::asked_anywhere(context_.matrix->comm);
    }
    stopped = facts_.stopped || (stopped && count_ < wanted);  // else all was done by then
    if (stopped && verdict_.converged)
      verdict_ = {.exit_code = ExitCode::not_converged,
                  .text = "not converged: stopped by a signal between two solves",
                  .reason = kKspStopped};
    if (stopped)
      verdict_.text += fmt::format("; the signal came in or after solve {} of {}", count_, wanted);
    keeper_->end(verdict_.converged, stopped);
    if (count_ < std::ssize(solutions_)) solutions_.resize(count_);
    KernelRun run;
    RunOutcome& o = run.outcome;
    o.converged = verdict_.converged;
    o.exit_code = verdict_.exit_code;
    o.reason = verdict_.text;
    o.petsc_reason = static_cast<int>(verdict_.reason);
    o.iterations = iterations_;
    o.relative_residual = worst(residuals_);
    if (!context_.problem.x_exact.empty()) o.relative_error = worst(errors_);
    o.seconds.solve = seconds_;
    o.iteration_us =
        total_iterations_ > 0 ? 1e6 * seconds_ / static_cast<double>(total_iterations_) : 0;
    o.history = std::move(history_);
    o.solve_seconds = std::move(each_seconds_);
    facts_into(o);
    if (scaled_right_hand_side_ != 0)
      o.notes.push_back(fmt::format(
          "the solver works on b times 2^{}, where no square leaves the range of double; what "
          "monitors print is scaled likewise",
          -scaled_right_hand_side_));
    o.notes.insert(o.notes.end(), keeper_->notes().begin(), keeper_->notes().end());
    if (const std::size_t solves = o.solve_seconds.size(); solves > 1)
      o.notes.push_back(
          fmt::format("{} solves, {:.3g} s each", solves, seconds_ / static_cast<double>(solves)));
    if (petsc_device_copies() && amat_.on_gpu())
      o.notes.push_back(fmt::format("PETSc copied {} vectors between host and GPU in {} iterations",
                                    copies_, total_iterations_));
    run.solutions = std::move(solutions_);
    return run;
  }

 private:
  // Of mixed precision.
  void facts_into(RunOutcome& o) const {
    if (facts_.mixed) o.corrections = facts_.replacements;
    if (facts_.exact_from >= 0)
      o.notes.push_back(fmt::format(
          "FP32 values led nowhere: products are FP64 from iteration {} on", facts_.exact_from));
    else if (facts_.mixed)
      o.notes.push_back(fmt::format("residual corrected {} times in FP64", facts_.replacements));
  }

  void one(std::size_t k) {
    const Problem& problem = context_.problem;
    const PlainProduct& plain = context_.plain;
    const std::span<const double> given_x0 =
        problem.x0 ? std::span<const double>(*problem.x0) : std::span<const double>();
    const int exponent = right_hand_side_exponent(context_.matrix->comm, problem.rhs[k], given_x0,
                                                  context_.matrix_exponent);
    const int of_x = exponent - context_.matrix_exponent;  // x is the solver's times 2^of_x
    const Scaled b(problem.rhs[k], -exponent), x0(given_x0, -of_x);
    const double rhs_norm = plain.norm(b.values());
    const double first_norm =
        problem.x0 ? context_.plain.residual_norm(b.values(), x0.values()) : rhs_norm;
    const double unit = rhs_norm > 0 ? rhs_norm : first_norm;
    set_local_values(b_, b.values());
    if (problem.x0)
      set_local_values(x_, x0.values());
    else
      petsc_check(VecSet(x_, 0));
    const std::int64_t before = keeper_->iterations_before(k);
    const std::int64_t not_told = solver_.engine() == Engine::resident ? 0 : before;
    solver_.monitor([&](std::int64_t iteration, double norm) {
      if (on_iteration_) on_iteration_(not_told + iteration, relative(norm, unit));
    });
    solver_.scale_tolerance(exponent);
    const std::optional<std::int64_t> copies_before = petsc_device_copies();
    KspResult result = keeper_->solve(
        solver_, b_, x_,
        {.k = k,
         .nonzero_guess = problem.x0.has_value(),
         .unit = unit,
         .solution = [of_x](Vec x) { return times_power_of_two(local_values(x), of_x); },
         .guess = [of_x](const Array<double>& x,
                         Vec into) { set_local_values(into, Scaled(x, -of_x).values()); }});
    if (copies_before) copies_ += *petsc_device_copies() - *copies_before;

    Array<double> x = local_values(x_);
    TrueResidual residual{.unit = unit, .reference = solver_.reference(unit, first_norm)};
    scale_back(b.values(), of_x, x, residual);
    if (!result.residuals.empty()) residual.last_norm = result.residuals.back();
    confirm(result.verdict, solver_, residual);
    keep_worst(result.verdict);
    residuals_[k] = relative(residual.norm, unit);
    if (!problem.x_exact.empty()) errors_[k] = error(x, problem.x_exact[k]);
    facts_ = result.facts;
    iterations_ = result.iterations;
    total_iterations_ += result.iterations - before;
    seconds_ += result.seconds;
    each_seconds_.push_back(result.seconds);
    ++count_;
    history_ = std::move(result.residuals);
    for (double& norm : history_) norm = relative(norm, unit);
    solutions_[k] = std::move(x);
    keeper_->solved(k, result);
    if (exponent != 0) scaled_right_hand_side_ = exponent;
  }

  // What an earlier run has solved, in place of one().
  void take_over(std::size_t k) {
    const Array<double>& x = solutions_[k];
    const Problem& problem = context_.problem;
    const int exponent = right_hand_side_exponent(context_.matrix->comm, problem.rhs[k], x,
                                                  context_.matrix_exponent);
    const Scaled b(problem.rhs[k], -exponent), scaled(x, context_.matrix_exponent - exponent);
    residuals_[k] = relative(context_.plain.residual_norm(b.values(), scaled.values()),
                             context_.plain.norm(b.values()));
    if (!problem.x_exact.empty()) errors_[k] = error(x, problem.x_exact[k]);
    ++count_;
  }

  // x becomes the caller's; what is judged is that x, rounded as it is.
  void scale_back(std::span<const double> b, int exponent, Array<double>& x,
                  TrueResidual& residual) {
    residual.norm = context_.plain.residual_norm(b, x);
    if (exponent == 0) return;
    const double before = residual.norm;
    x = times_power_of_two(x, exponent);
    residual.norm = context_.plain.residual_norm(b, times_power_of_two(x, -exponent));
    residual.overflows = std::isfinite(before) && !std::isfinite(residual.norm);
    residual.underflows = exponent < 0 && before < 0.5 * residual.norm;
  }

  static double worst(const std::vector<double>& of_each) {  // NaN is the worst
    double most = 0;
    for (const double one : of_each) most = std::isnan(most) || most > one ? most : one;
    return most;
  }

  void keep_worst(const Verdict& verdict) {
    if (each_seconds_.empty() || (verdict_.converged && !verdict.converged)) verdict_ = verdict;
  }

  double error(std::span<const double> x, std::span<const double> exact) const {
    Array<double> difference(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - exact[i];
    return relative(context_.plain.norm(difference), context_.plain.norm(exact));
  }

  const SolveContext& context_;
  Amat& amat_;
  PetscSolver& solver_;
  const IterationCallback& on_iteration_;
  VecHandle x_, b_;
  std::optional<RunKeeper> keeper_;
  std::vector<Array<double>> solutions_;    // the latest of each right-hand side,
  std::vector<double> residuals_, errors_;  // and what is said of it
  std::vector<double> history_, each_seconds_;
  Verdict verdict_;
  KspFacts facts_;
  int scaled_right_hand_side_ = 0;  // the last exponent, where there was one
  double seconds_ = 0;
  std::int64_t iterations_ = 0, total_iterations_ = 0, count_ = 0, copies_ = 0;
};

void add_product_figures(RunOutcome& o, const SolveContext& context, const Amat& amat,
                         const ProductTiming& timing) {
  const DistributedMatrix& matrix = *context.matrix;
  o.kernel_us = {.count = timing.count,
                 .mean = timing.mean,
                 .median = timing.median,
                 .p95 = timing.p95,
                 .min = timing.min,
                 .max = timing.max};
  o.bytes = sum_over_ranks(matrix.comm, amat.statistics().stored_bytes);
  const double weighted =
      amat.statistics().padding_ratio * static_cast<double>(matrix.blocks.nnz());
  double padded = weighted;
  MPI_Allreduce(MPI_IN_PLACE, &padded, 1, MPI_DOUBLE, MPI_SUM, matrix.comm);
  const auto nnz = static_cast<double>(matrix.global_nnz);
  o.padding = nnz > 0 ? padded / nnz : 0;
  if (timing.median <= 0) return;
  const double bytes = static_cast<double>(
      product_bytes(o.bytes, matrix.global_rows(), matrix.global_rows(), sizeof(double)));
  o.gflops = 2e-3 * nnz / timing.median;
  o.gbytes_per_s = 1e-3 * bytes / timing.median;
}

// Of the rank with most.
void add_memory(RunOutcome& o, const SolveContext& context) {
  const std::int64_t peak = std::max(context.load_peak_bytes, peak_resident_bytes());
  const auto csr = static_cast<double>(std::max<std::int64_t>(context.matrix->csr_bytes(), 1));
  struct {
    double ratio;
    int rank;
  } mine{static_cast<double>(peak - context.resident_before) / csr, rank_of(context.matrix->comm)},
      most{};
  struct {
    double bytes;
    int rank;
  } peak_here{static_cast<double>(peak), mine.rank}, peak_most{};
  MPI_Allreduce(&peak_here, &peak_most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, context.matrix->comm);
  most = mine;
  MPI_Bcast(&most.ratio, 1, MPI_DOUBLE, peak_most.rank, context.matrix->comm);
  o.peak_memory = static_cast<std::int64_t>(peak_most.bytes);
  o.peak_memory_over_csr = most.ratio;
}

}  // namespace

KernelRun run_kernel(const SolveContext& context, const KernelChoice& kernel,
                     const IterationCallback& on_iteration) {
  reset_peak_resident();
  Amat amat(context.matrix, kernel);
  RunOutcome memory;
  add_memory(memory, context);
  SolverSpec spec = context.spec.solver;
  if (kernel.name == "petsc-aij" && amat.on_gpu())
    spec.engine = Engine::petsc;  // whose vectors it needs
  PetscSolver solver(spec, amat.mat(), amat.assembled(), context.matrix);
  const bool mixed = kernel.precision == Precision::mixed;
  if (mixed && solver.engine() != Engine::resident)
    fail(ExitCode::usage,
         "precision: mixed needs the resident engine, and this run takes PETSc's: {}",
         solver.notes().front());
  if (amat.inexact()) solver.require_residual_test();

  amat.choose_row_order(solver);
  solver.prepare();

  amat.times().clear();
  KernelRun run = Solves(context, amat, solver, on_iteration).all();
  RunOutcome& o = run.outcome;
  o.kernel = kernel.name;
  o.device = kernel.device;
  o.precision = kernel.precision;
  o.method = solver.method();
  o.engine = solver.engine();
  o.preconditioner = solver.preconditioner();
  o.rtol = solver.rtol();
  o.ranks = size_of(context.matrix->comm);
  o.seconds.read = context.problem.read_seconds;
  o.seconds.build = amat.build_seconds();
  o.seconds.upload = amat.upload_seconds();
  o.seconds.setup = max_over_ranks(context.matrix->comm, solver.setup_seconds());
  o.peak_memory = memory.peak_memory;
  o.peak_memory_over_csr = memory.peak_memory_over_csr;
  amat.time_products_if_none_was();
  const std::vector<float> times = amat.times().slowest(context.matrix->comm);
  run.product_us.assign(times.begin(), times.end());
  add_product_figures(o, context, amat, summarise(times, amat.times().count()));
  o.deterministic = kernel.name == "petsc-aij" || find_kernel(kernel.name).deterministic;
  if (!amat.exchange().empty())
    o.notes.push_back(fmt::format("exchange between GPUs: {}", amat.exchange()));
  if (const std::string note = amat.advice_on_shares(); !note.empty()) o.notes.push_back(note);
  if (const double us = max_over_ranks(context.matrix->comm, amat.staging_us()); us > 0)
    o.notes.push_back(
        fmt::format("vectors staged through pinned memory: {:.1f} us a product beside it", us));
  if (mixed && !amat.inexact()) {
    o.corrections = 0;
    o.notes.emplace_back("every value of the matrix is an FP32 number: nothing to correct");
  } else if (mixed && !o.corrections) {
    o.corrections = 0;
    o.notes.emplace_back("the matrix fits into shared memory, where the loop keeps it in FP64");
  }
  if (const std::string note = amat.row_order_note(); !note.empty()) o.notes.push_back(note);
  o.notes.insert(o.notes.end(), solver.notes().begin(), solver.notes().end());
  return run;
}

std::string baseline_kernel(Device device) { return device == Device::cuda ? "csr-vector" : "csr"; }

KernelCost measure_baseline(const std::shared_ptr<DistributedMatrix>& matrix, Device device) {
  constexpr int kProducts = 10;
  std::unique_ptr<Operator> op;
  if (device == Device::cuda)
    op = std::make_unique<CudaOperator>(matrix, baseline_kernel(device), Precision::full,
                                        exchange_options());
  else
    op = std::make_unique<HostOperator>(matrix, baseline_kernel(device));
  Array<double> x(matrix->local_rows(), 1.0), y(matrix->local_rows());
  op->multiply(x, y);  // pages and caches
  op->times().clear();
  for (int product = 0; product < kProducts; ++product) op->multiply(x, y);
  const ProductTiming timing = summarise(op->times().slowest(matrix->comm), kProducts);
  return {max_over_ranks(matrix->comm, op->build_seconds() + op->upload_seconds()), timing.median};
}

}  // namespace trireme
