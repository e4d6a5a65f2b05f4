// SPDX-License-Identifier: BSD-3-Clause
// One object of "runs" in report.json.
#include "report/convergence.hpp"
#include "report/json.hpp"

namespace trireme::json {
namespace {

Json kernel_time(const KernelTiming& t) {
  return {{"count", t.count}, {"mean", t.mean}, {"median", t.median},
          {"p95", t.p95},     {"min", t.min},   {"max", t.max}};
}

Json seconds(const Seconds& s) {
  return {{"read", s.read},     {"tune", s.tune},   {"order", s.order}, {"build", s.build},
          {"upload", s.upload}, {"setup", s.setup}, {"renew", s.renew}, {"solve", s.solve}};
}

Json candidate(const TrialCandidate& c) {
  return {{"kernel", c.kernel},
          {"ordering", c.ordering},
          {"ghost_kernel", c.ghost_kernel},
          {"predicted_us", c.predicted_us},
          {"build_seconds", optional(c.build_seconds)},
          {"product_us", optional(c.product_us)},
          {"chosen", c.chosen},
          {"verdict", c.verdict}};
}

Json trial(const std::optional<TrialOutcome>& t) {
  if (!t) return nullptr;
  Json candidates = Json::array();
  for (const TrialCandidate& c : t->candidates) candidates.push_back(candidate(c));
  return {{"began_with", t->began_with},
          {"expected_products", t->expected_products},
          {"expected_from", t->expected_from},
          {"budget_seconds", t->budget_seconds},
          {"seconds", t->seconds},
          {"from_cache", t->from_cache},
          {"changed_at", optional(t->changed_at)},
          {"candidates", std::move(candidates)}};
}

Json step(const StepOutcome& s) {
  return {{"name", s.name},
          {"new_values", s.new_values},
          {"rebuilt", s.rebuilt},
          {"renewed", s.renewed},
          {"new_aggregates", s.new_aggregates},
          {"guess", s.guess},
          {"guess_residual", s.guess_residual},
          {"iterations", s.iterations},
          {"converged", s.converged},
          {"relative_residual", s.relative_residual},
          {"read_seconds", s.read_seconds},
          {"renew_seconds", s.renew_seconds},
          {"solve_seconds", s.solve_seconds},
          {"seconds", s.seconds}};
}

Json column(const ColumnOutcome& c) {
  return {{"iterations", c.iterations},
          {"converged", c.converged},
          {"reason", c.reason},
          {"relative_residual", c.relative_residual},
          {"relative_row_residual", optional(c.relative_row_residual)},
          {"relative_error", optional(c.relative_error)},
          {"history", c.history}};
}

}  // namespace

Json run(const RunOutcome& run) {
  Json steps = Json::array();
  for (const StepOutcome& s : run.steps) steps.push_back(step(s));
  Json columns = Json::array();
  for (const ColumnOutcome& c : run.columns) columns.push_back(column(c));
  return {{"kernel", run.kernel},
          {"device", to_string(run.device)},
          {"precision", to_string(run.precision)},
          {"ordering", run.ordering},
          {"ghost_kernel", run.ghost_kernel},
          {"method", run.method},
          {"engine", to_string(run.engine)},
          {"preconditioner", run.preconditioner},
          {"ranks", run.ranks},
          {"rtol", run.rtol},
          {"converged", run.converged},
          {"exit_code", static_cast<int>(run.exit_code)},
          {"reason", run.reason},
          {"petsc_reason", run.petsc_reason},
          {"iterations", run.iterations},
          {"corrections", optional(run.corrections)},
          {"relative_residual", run.relative_residual},
          {"relative_row_residual", optional(run.relative_row_residual)},
          {"relative_error", optional(run.relative_error)},
          {"seconds", seconds(run.seconds)},
          {"solve_seconds", run.solve_seconds},
          {"kernel_us", kernel_time(run.kernel_us)},
          {"iteration_us", run.iteration_us},
          {"gflops", run.gflops},
          {"gbytes_per_s", run.gbytes_per_s},
          {"bandwidth_fraction", optional(run.bandwidth_fraction)},
          {"padding", run.padding},
          {"bytes", run.bytes},
          {"peak_memory_bytes", run.peak_memory},
          {"peak_memory_over_csr", run.peak_memory_over_csr},
          {"break_even_products", optional(run.break_even_products)},
          {"deterministic", run.deterministic},
          {"notes", run.notes},
          {"history", run.history},
          {"product_us", run.product_us},
          {"product_us_stride", run.product_us_stride},
          {"steps", std::move(steps)},
          {"block", run.block},
          {"columns", std::move(columns)},
          {"trial", trial(run.trial)},
          {"convergence_factor", optional(convergence_factor(run.history))},
          {"multigrid", multigrid(run.multigrid)},
          {"preconditioner_choice", preconditioner_choice(run.preconditioner_choice)}};
}

}  // namespace trireme::json
