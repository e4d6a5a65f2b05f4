// SPDX-License-Identifier: BSD-3-Clause
// Build, solve, measure.
#include "app/run_kernel.hpp"

#include <iterator>
#include <utility>

#include "app/figures/memory.hpp"
#include "app/figures/multigrid_facts.hpp"
#include "app/figures/product_figures.hpp"
#include "app/precision_choice.hpp"
#include "app/solves/kernel_tuning.hpp"
#include "app/solves/preconditioner_tuning.hpp"
#include "app/solves/solves.hpp"
#include "app/system/moved_rows.hpp"
#include "app/system/scaled_context.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/mat/amat.hpp"
#include "petsc/mat/case_kernels.hpp"
#include "planning/preconditioner_candidates.hpp"

namespace trireme {
namespace {

void require_resident_engine(const KspSolver& solver) {
  if (solver.engine() == Engine::resident) return;
  const std::vector<std::string> notes = solver.notes();
  fail(ExitCode::usage,
       "precision: mixed needs the resident engine, and this run takes PETSc's: {}",
       notes.empty() ? fmt::format("method {}", solver.method()) : notes.front());
}

// How often residuals were corrected, where no solve has said so.
void note_missing_corrections(RunOutcome& o, bool inexact) {
  if (o.corrections.value_or(0) > 0) return;
  if (!inexact) {
    o.corrections = 0;
    o.notes.emplace_back("every value of the matrix is an FP32 number: nothing needs correction");
  } else if (!o.corrections) {
    o.corrections = 0;
    o.notes.emplace_back("the matrix fits into shared memory, where the loop keeps it in FP64");
  }
}

// The modes of the problem, on the ranks that have their rows. A step of a sequence may have moved
// the rows. Collective.
Modes modes_of(const SolveContext& context) {
  const DistributedMatrix& matrix = *context.matrix;
  const auto moved = context.steps ? context.steps->redistribution() : context.moved;
  Modes modes = context.problem.modes;
  modes.values = moved_rows(matrix.comm, modes.values, modes.width, context.problem.row_starts,
                            moved ? moved->from() : matrix.row_starts);
  if (moved && modes.width > 0) modes.values = moved->there(modes.values, modes.width);
  if (context.scaling && modes.width > 0)
    modes.values = context.scaling->to_columns(modes.values, 0, modes.width);
  return modes;
}

void append(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

// What was asked for, where there is no solver that could tell what it is.
void fill_with_what_was_asked(RunOutcome& o, const SolveContext& context,
                              const KernelChoice& kernel) {
  const SolverSpec& solver = context.spec.solver;
  o.kernel = kernel.name;
  o.device = kernel.device;
  o.precision = kernel.precision;
  o.method = solver.method;
  o.preconditioner = solver.first_preconditioner().name();
  o.ranks = size_of(context.matrix->comm);
  o.rtol = solver.rtol;
}

// Of a kernel that has nothing to solve.
KernelRun singular_run(const SolveContext& context, const KernelChoice& kernel,
                       const std::string& why) {
  KernelRun run;
  RunOutcome& o = run.outcome;
  fill_with_what_was_asked(o, context, kernel);
  o.exit_code = ExitCode::breakdown;
  o.petsc_reason = KSP_DIVERGED_BREAKDOWN;
  o.reason = "breakdown: " + why + " (DIVERGED_BREAKDOWN)";
  o.relative_residual = 1;  // of x = 0
  return run;
}

}  // namespace

// `preconditioner`: in place of that of the case, where there is one.
Plan make_plan(const SolveContext& context, const KernelChoice& kernel,
               const std::optional<AnyPreconditioner>& preconditioner,
               const multigrid::HierarchyStore& hierarchies) {
  const bool mixed = kernel.precision == Precision::mixed;
  Plan plan;
  plan.amat = make_amat(context.matrix, kernel, context.order(kernel.ordering, kernel.device));
  plan.memory = peak_memory(context);
  SolverSpec spec = context.spec.solver;
  if (preconditioner) spec.preconditioner = preconditioner;
  if (const auto only = find_case_kernel(kernel.name).engine_on(kernel.device)) spec.engine = only;
  plan.solver = std::make_unique<KspSolver>(spec, plan.amat->mat(), plan.amat->assembled(),
                                            context.matrix, modes_of(context), hierarchies,
                                            context.scaling ? nullptr : context.analysis);
  if (mixed) require_resident_engine(*plan.solver);
  if (kernel.ordering != Ordering::given && !plan.solver->row_order_is_free())
    fail(ExitCode::usage,
         "ordering: {} needs the resident engine and a preconditioner that does not depend on the "
         "order of rows; this run has {} by the {} engine: use ordering: given",
         to_string(kernel.ordering), plan.solver->preconditioner_words(),
         to_string(plan.solver->engine()));
  if (plan.amat->inexact()) plan.solver->require_residual_test();
  plan.amat->choose_row_order(*plan.solver);
  if (context.on_part) context.on_part("setting up " + plan.solver->preconditioner_words());
  plan.solver->prepare();
  return plan;
}

// Solves with the matrix of `context`.
KernelRun run_solver(const SolveContext& context, const PlannedRun& planned,
                     const IterationCallback& on_iteration) {
  KernelChoice kernel = planned.kernel;

  reset_peak_resident();
  const bool choose = context.spec.solver.chooses_preconditioner();
  std::optional<AnyPreconditioner> first;
  if (choose) first = first_preconditioner(*context.matrix);
  if (kernel.precision_is_free && serves_in_fp32(context, kernel))
    kernel.precision = Precision::mixed;
  const bool mixed = kernel.precision == Precision::mixed;
  Plan plan = make_plan(context, kernel, first, context.hierarchies);
  std::optional<PreconditionerTuning> preconditioning;
  if (choose)
    preconditioning.emplace(*context.matrix, *plan.amat, *plan.solver,
                            context.preconditioner_clock);
  // Multigrid needs the rows in the order of the file.
  Case spec = context.spec;
  if (choose && !spec.ordering) spec.ordering = Ordering::given;
  std::optional<KernelTuning> tuning;
  if (planned.automatic)
    tuning.emplace(spec, context.matrix, kernel, *plan.amat, *plan.solver, planned.earlier,
                   context.measure, context.order, planned.traits);
  plan.amat->times().clear();
  const auto plan_again = [&] {
    return make_plan(context, tuning ? tuning->kernel() : kernel,
                     preconditioning ? std::optional(preconditioning->running()) : std::nullopt,
                     {});
  };
  KernelRun run = solve_all(context, plan, plan_again, on_iteration, tuning ? &*tuning : nullptr,
                            preconditioning ? &*preconditioning : nullptr);
  if (!plan.solver) {  // the data of a step have left none
    fill_with_what_was_asked(run.outcome, context, kernel);
    return run;
  }
  Amat* const amat = plan.amat.get();
  const KspSolver& solver = *plan.solver;

  RunOutcome& o = run.outcome;
  if (tuning) {
    kernel = tuning->kernel();
    o.trial = tuning->outcome();
    o.seconds.tune = tuning->seconds();
    run.decision = tuning->decision();
  }
  const CaseKernel about = find_case_kernel(kernel.name);
  o.ordering = to_string(kernel.ordering);
  o.ghost_kernel = kernel.ghost_kernel;
  if (const auto op = amat->shared_operator(); op && op->ordered())
    o.seconds.order = max_over_ranks(context.matrix->comm, op->ordered()->seconds());
  o.kernel = kernel.name;
  o.device = kernel.device;
  o.precision = kernel.precision;
  o.deterministic = o.deterministic && about.deterministic;
  o.method = solver.method();
  o.engine = solver.engine();
  o.preconditioner = solver.preconditioner_words();
  o.rtol = solver.rtol();
  if (preconditioning) o.preconditioner_choice = preconditioning->outcome();
  if (o.preconditioner_choice && o.preconditioner_choice->changed_at) o.deterministic = false;
  if (const auto hierarchy = solver.multigrid())
    o.multigrid = outcome_of(context.matrix->comm, *hierarchy);
  o.ranks = size_of(context.matrix->comm);
  o.seconds.read += context.problem.read_seconds;
  o.seconds.build += amat->build_seconds();
  o.seconds.upload += amat->upload_seconds();
  o.seconds.setup += max_over_ranks(context.matrix->comm, solver.setup_seconds());
  o.peak_memory = plan.memory.bytes;
  o.peak_memory_over_csr = plan.memory.over_csr;
  amat->time_products_if_none_was();
  run.product_us = add_product_figures(o, *context.matrix, *amat);
  append(o.notes, amat->notes());
  if (mixed) note_missing_corrections(o, amat->inexact());
  append(o.notes, solver.notes());
  if (!choose && !solver.preconditioner().is_multigrid() &&
      context.spec.solver.multigrid != MultigridSpec{})
    o.notes.push_back(
        fmt::format("preconditioner {} does not use solver.multigrid", o.preconditioner));
  if (std::string advice = advice_on_ranks(o, *context.matrix, *amat, solver.preconditioner());
      !advice.empty())
    o.notes.push_back(std::move(advice));
  return run;
}

KernelRun run_kernel(const SolveContext& context, const PlannedRun& planned,
                     const IterationCallback& on_iteration) {
  if (!context.spec.solver.is_scaled()) return run_solver(context, planned, on_iteration);
  ScaledContext scaled(context);
  const std::string why = scaled.why_singular();
  KernelRun run = why.empty() ? run_solver(scaled.context(), planned, on_iteration)
                              : singular_run(context, planned.kernel, why);
  run.outcome.scaling = *context.spec.solver.scaling;
  run.outcome.seconds.scale = scaled.seconds();
  append(run.outcome.notes, scaled.notes());
  return run;
}

}  // namespace trireme
