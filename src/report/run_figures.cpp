// SPDX-License-Identifier: BSD-3-Clause
// The figures of a run: one object of "runs" in report.json.
#include "report/convergence.hpp"
#include "report/figures.hpp"

namespace trireme::json {
namespace {

Json orderings() { return schema_of<Ordering>(); }

}  // namespace

template <>
const Figures<KernelTiming>& figures() {
  static const Figures<KernelTiming> table = {
      {"count", "1", "products", &KernelTiming::count},
      {"mean", "us", "over those products that were timed one by one (at most the last 65536)",
       &KernelTiming::mean, nan_is_null()},
      {"median", "us", "of the same products", &KernelTiming::median, nan_is_null()},
      {"p95", "us", "the 95th percentile of the same products", &KernelTiming::p95, nan_is_null()},
      {"min", "us", "of the same products", &KernelTiming::min, nan_is_null()},
      {"max", "us", "of the same products", &KernelTiming::max, nan_is_null()}};
  return table;
}

template <>
const Figures<Seconds>& figures() {
  static const Figures<Seconds> table = {
      {"read", "s", "reading or generating the problem, or all steps of it", &Seconds::read},
      {"tune", "s", "the trial of `kernel: auto`, with the builds of what it did not choose",
       &Seconds::tune},
      {"scale", "s",
       "finding the scales of rows and columns, and scaling the matrix, before the first solve",
       &Seconds::scale},
      {"order", "s", "making the order of rows that is used, and bringing the matrix into it",
       &Seconds::order},
      {"build", "s", "building the kernel's format", &Seconds::build},
      {"upload", "s", "copying the CSR to the GPU", &Seconds::upload},
      {"setup", "s", "the preconditioner and the engine, the first time", &Seconds::setup},
      {"renew", "s", "new values in the kernel and in the preconditioner, all steps",
       &Seconds::renew},
      {"solve", "s", "all solves together", &Seconds::solve},
      {"ladder", "s",
       "`method: auto`: the look at the matrix, and the rungs that came before the last one",
       &Seconds::ladder}};
  return table;
}

template <>
const Figures<TrialCandidate>& figures() {
  static const Figures<TrialCandidate> table = {
      {"kernel", "", "its name", &TrialCandidate::kernel, not_empty()},
      {"ordering", "", "as that of the run", &TrialCandidate::ordering, orderings()},
      {"ghost_kernel", "", "as that of the run", &TrialCandidate::ghost_kernel},
      {"predicted_us", "us", "one product, by the cost model", &TrialCandidate::predicted_us,
       nan_is_null()},
      {"build_seconds", "s", "building it, with its ordering; null: not built",
       &TrialCandidate::build_seconds},
      {"product_us", "us", "the median product; null: not measured", &TrialCandidate::product_us},
      {"chosen", "", "whether it won", &TrialCandidate::chosen},
      {"verdict", "", "why it lost, or why it was chosen", &TrialCandidate::verdict}};
  return table;
}

template <>
const Figures<TrialOutcome>& figures() {
  static const Figures<TrialOutcome> table = {
      {"began_with", "", "the kernel of the first iterations", &TrialOutcome::began_with},
      {"expected_products", "1", "over which the choice is to pay",
       &TrialOutcome::expected_products},
      {"expected_from", "", "where this number comes from", &TrialOutcome::expected_from},
      {"budget_seconds", "s", "what the trial was allowed to spend", &TrialOutcome::budget_seconds},
      {"seconds", "s", "what it spent", &TrialOutcome::seconds},
      {"from_cache", "", "an earlier run measured, and this one did not",
       &TrialOutcome::from_cache},
      {"changed_at", "1",
       "the iteration of the first solve at which the chosen kernel took over; null: the run began "
       "with it",
       &TrialOutcome::changed_at},
      {"candidates", "", "the chosen one first", &TrialOutcome::candidates}};
  return table;
}

template <>
const Figures<StepOutcome>& figures() {
  static const Figures<StepOutcome> table = {
      {"name", "", "of the file or the dataset with the values, or of b", &StepOutcome::name},
      {"new_values", "", "the matrix has new values", &StepOutcome::new_values},
      {"rebuilt", "",
       "the pattern differs, or a scaling was found anew, so that everything was built anew",
       &StepOutcome::rebuilt},
      {"renewed", "", "the preconditioner was made anew", &StepOutcome::renewed},
      {"new_aggregates", "", "multigrid was renewed from its aggregates on",
       &StepOutcome::new_aggregates},
      {"guess", "",
       "`previous`, `zero`, `extrapolate`, or `x0` for a step 0 that begins from `problem.x0`. "
       "`zero` also where the guess had a larger residual than zero",
       &StepOutcome::guess},
      {"guess_residual", "1", "||b - A x0|| / ||b|| of this guess", &StepOutcome::guess_residual,
       nan_is_null()},
      {"iterations", "1", "of this step", &StepOutcome::iterations},
      {"converged", "", "as that of the run", &StepOutcome::converged},
      {"relative_residual", "1", "as that of the run", &StepOutcome::relative_residual,
       nan_is_null()},
      {"read_seconds", "s",
       "reading of this step; work that another thread did during a solve counts only where the "
       "step waited for it",
       &StepOutcome::read_seconds},
      {"renew_seconds", "s", "renewing of this step, counted in the same way",
       &StepOutcome::renew_seconds},
      {"solve_seconds", "s", "solving of this step", &StepOutcome::solve_seconds},
      {"seconds", "s", "from the beginning of this step to that of the next one",
       &StepOutcome::seconds}};
  return table;
}

template <>
const Figures<ColumnOutcome>& figures() {
  static const Figures<ColumnOutcome> table = {
      {"iterations", "1", "of this right-hand side", &ColumnOutcome::iterations},
      {"converged", "", "as that of the run", &ColumnOutcome::converged},
      {"reason", "", "in words, as that of the run", &ColumnOutcome::reason, not_empty()},
      {"relative_residual", "1", "as that of the run", &ColumnOutcome::relative_residual,
       nan_is_null()},
      {"relative_row_residual", "1", "as that of the run", &ColumnOutcome::relative_row_residual},
      {"relative_error", "1", "as that of the run", &ColumnOutcome::relative_error},
      {"history", "1", "its residual norms, relative to its ||b||, from iteration 0",
       &ColumnOutcome::history, nan_is_null_in_list()}};
  return table;
}

template <>
const Figures<RunOutcome>& figures() {
  static const Figures<RunOutcome> table = {
      {"kernel", "", "name, as in `solve --list-kernels`", &RunOutcome::kernel, not_empty()},
      {"device", "", "where it computed", &RunOutcome::device},
      {"precision", "", "of the stored values, where `mixed` is FP32", &RunOutcome::precision},
      {"ordering", "", "the order of rows in which the run worked", &RunOutcome::ordering,
       orderings()},
      {"ghost_kernel", "",
       "the kernel that multiplies by the columns of other ranks; empty: `kernel` does",
       &RunOutcome::ghost_kernel},
      {"method", "",
       "`cg`, `block_cg`, `pipelined_cg`, `bicgstab`, `bicgstab2`, `gmres`, `minres`, or PETSc's "
       "name",
       &RunOutcome::method},
      {"engine", "", "whose Krylov loop solved", &RunOutcome::engine},
      {"preconditioner", "", "name", &RunOutcome::preconditioner},
      {"scaling", "", "of the rows and columns of the system that the method worked on",
       &RunOutcome::scaling},
      {"ranks", "1", "processes", &RunOutcome::ranks, at_least_one()},
      {"rtol", "1", "the tolerance that was asked for, of ||b||; where b = 0, of ||A x0||",
       &RunOutcome::rtol},
      {"converged", "", "whether every solve of this kernel converged and `b - A x` confirms it",
       &RunOutcome::converged},
      {"exit_code",
       "",
       "as [running.md](running.md#exit-codes-and-error-lines) explains",
       [](const RunOutcome& run) { return static_cast<int>(run.exit_code); },
       {{"enum", {0, 5, 6}}}},
      {"reason", "", "in words, with PETSc's name", &RunOutcome::reason, not_empty()},
      {"petsc_reason", "", "KSPConvergedReason", &RunOutcome::petsc_reason, {{"minimum", nullptr}}},
      {"iterations", "1", "of the last solve", &RunOutcome::iterations},
      {"corrections", "1",
       "mixed precision: how often the residual of the last solve was replaced by `b - A x` in "
       "FP64; null in double",
       &RunOutcome::corrections},
      {"relative_residual", "1",
       "||b - A x|| / ||b||, recomputed by plain CSR in double; the worst right-hand side. Where b "
       "= 0, over ||A x0||",
       &RunOutcome::relative_residual, nan_is_null()},
      {"relative_row_residual", "1",
       "the same with each row of b - A x and of b divided by its size, the largest magnitude in "
       "the row of the matrix; null where sizes differ by less than 1000, and where b = 0",
       &RunOutcome::relative_row_residual},
      {"relative_error", "1",
       "||x - x_exact|| / ||x_exact||, the worst; null where the solution is not known",
       &RunOutcome::relative_error},
      {"seconds", "s", "what the run spent, on the slowest rank", &RunOutcome::seconds},
      {"solve_seconds", "s", "each solve in turn; the first one may prepare what the others use",
       &RunOutcome::solve_seconds},
      {"kernel_us", "us", "one product, with the wait for the halo, on the slowest rank",
       &RunOutcome::kernel_us},
      {"iteration_us", "us", "`solve` over the iterations of all solves", &RunOutcome::iteration_us,
       nan_is_null()},
      {"gflops", "GFLOP/s", "2 nnz over the median product", &RunOutcome::gflops, nan_is_null()},
      {"gbytes_per_s", "GB/s", "layout + x + y, each once, over the median product",
       &RunOutcome::gbytes_per_s, nan_is_null()},
      {"bandwidth_fraction", "1",
       "`gbytes_per_s` over the bandwidth measured in this run, on CPUs the best of copy, triad "
       "and read; null: not measured (small matrices)",
       &RunOutcome::bandwidth_fraction},
      {"padding", "1", "stored entries / nnz - 1", &RunOutcome::padding},
      {"bytes", "B", "stored by the layout, all ranks", &RunOutcome::bytes},
      {"peak_memory_bytes", "B",
       "peak resident memory of the rank that has most, until the kernel was built",
       &RunOutcome::peak_memory},
      {"peak_memory_over_csr", "1",
       "what this rank has added since before the problem was read, over its rows in CSR",
       &RunOutcome::peak_memory_over_csr},
      {"break_even_products", "1",
       "after how many products `build` + `upload` are repaid, against `csr` (on a GPU "
       "`csr-vector`); null: never",
       &RunOutcome::break_even_products},
      {"deterministic", "",
       "the same bits from run to run, with the same number of ranks and threads: so are the sums "
       "of the kernel, and no timing has chosen the variant of CG",
       &RunOutcome::deterministic},
      {"notes", "",
       "sentences: the exchange between GPUs and why it was chosen, duplicates, scaling, options "
       "that nobody read, and so on",
       &RunOutcome::notes},
      {"history", "1",
       "residual norms of the last solve over ||b|| (over ||A x0|| where b = 0), from iteration 0",
       &RunOutcome::history, nan_is_null_in_list()},
      {"product_us",
       "us",
       "times of products in their order, at most 2,000 of them",
       &RunOutcome::product_us,
       {{"items", nan_is_null()}, {"maxItems", 2000}}},
      {"product_us_stride", "1",
       "`product_us` holds the timed products 0, stride, 2 stride and so on",
       &RunOutcome::product_us_stride, at_least_one()},
      {"steps", "", "one object per step of `problem.steps`", &RunOutcome::steps},
      {"block", "1", "right-hand sides that were solved at once, at most", &RunOutcome::block,
       at_least_one()},
      {"columns", "",
       "one object per right-hand side, of the last round of `repeat`; empty where there is one "
       "right-hand side, or a sequence",
       &RunOutcome::columns},
      {"trial", "", "how `kernel: auto` came to its kernel; null where the case names the kernel",
       &RunOutcome::trial},
      {"convergence_factor", "1",
       "the geometric mean of the factors by which one iteration of the last solve reduced the "
       "residual norm; null: no iteration",
       [](const RunOutcome& run) { return convergence_factor(run.history); }},
      {"multigrid", "",
       "the hierarchy of `preconditioner: multigrid`; null for another preconditioner",
       &RunOutcome::multigrid},
      {"ladder", "", "how `method: auto` came to its method; null where the case names it",
       &RunOutcome::ladder},
      {"preconditioner_choice", "",
       "how `preconditioner: auto` came to its preconditioner; null where the case names it",
       &RunOutcome::preconditioner_choice}};
  return table;
}

}  // namespace trireme::json
