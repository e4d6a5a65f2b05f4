// SPDX-License-Identifier: BSD-3-Clause
// An outcome as a run of three kernels leaves it, for the report tests.
#pragma once

#include <cmath>

#include "report/outcome.hpp"

namespace trireme::test {

inline RunOutcome sample_run(const std::string& kernel, double build_seconds, double product_us) {
  RunOutcome run;
  run.kernel = kernel;
  run.device = Device::cpu;
  run.precision = Precision::full;
  run.method = "cg";
  run.engine = Engine::petsc;
  run.preconditioner = "jacobi";
  run.ranks = 2;
  run.rtol = 1e-8;
  run.exit_code = ExitCode::converged;
  run.converged = true;
  run.reason = "converged: relative tolerance reached (CONVERGED_RTOL)";
  run.petsc_reason = 2;
  run.iterations = 312;
  run.relative_residual = 9.8e-9;
  run.relative_error = 3.1e-7;
  run.seconds = {.read = 0.2, .build = build_seconds, .upload = 0, .setup = 0.01, .solve = 1.5};
  run.solve_seconds = {1.5};
  run.kernel_us = {.count = 313,
                   .mean = product_us * 1.02,
                   .median = product_us,
                   .p95 = product_us * 1.2,
                   .min = product_us * 0.97,
                   .max = product_us * 2};
  run.iteration_us = 1.5e6 / 312;
  run.gflops = 2 * 17e6 / product_us * 1e-3;
  run.gbytes_per_s = 12 * 17e6 / product_us * 1e-3;
  run.bandwidth_fraction = 0.87;
  run.bytes = 204'000'000;
  run.peak_memory = 500'000'000;
  run.peak_memory_over_csr = 2.2;
  for (int i = 0; i <= 312; ++i) run.history.push_back(std::pow(10.0, -8.0 * i / 312));
  for (int i = 0; i < 313; ++i) run.product_us.push_back(product_us * (1 + 0.02 * (i % 10)));
  run.baseline = "csr";
  return run;
}

inline TrialOutcome sample_trial() {
  TrialOutcome trial;
  trial.candidates = {{.kernel = "albus",
                       .predicted_us = 6100,
                       .build_seconds = 0.012,
                       .product_us = 6000,
                       .chosen = true,
                       .verdict = "least total over 313 products"},
                      {.kernel = "albus",
                       .ordering = "rcm",
                       .predicted_us = 5900,
                       .build_seconds = 1.5,
                       .product_us = 5800,
                       .verdict = "its ordering pays after 7440 products"},
                      {.kernel = "csr",
                       .predicted_us = 7900,
                       .build_seconds = 0,
                       .product_us = 8000,
                       .verdict = "its product is 1.33 times as long"},
                      {.kernel = "teb",
                       .predicted_us = 30000,
                       .verdict = "not measured: the model says 5 times as long"}};
  trial.expected_products = 313;
  trial.expected_from = "repeat: 1";
  trial.budget_seconds = 0.8;
  trial.seconds = 0.09;
  trial.changed_at = 12;
  return trial;
}

inline StepOutcome sample_step(const std::string& name, std::int64_t iterations) {
  return {.name = name,
          .new_values = true,
          .renewed = iterations > 100,
          .guess = "previous",
          .guess_residual = 1e-3,
          .iterations = iterations,
          .converged = true,
          .relative_residual = 9e-9,
          .read_seconds = 0.01,
          .renew_seconds = 0.002,
          .solve_seconds = 0.005 * static_cast<double>(iterations)};
}

inline MultigridOutcome sample_multigrid() {
  return {.levels = {{.rows = 206'763,
                      .nnz = 16'100'000,
                      .kernel = "sell",
                      .precision = Precision::mixed,
                      .product_us = 4000,
                      .spectral_radius = 1.98},
                     {.rows = 9000,
                      .nnz = 1'200'000,
                      .replicated = true,
                      .kernel = "albus",
                      .precision = Precision::full,
                      .product_us = 300,
                      .spectral_radius = 1.7,
                      .prolongator = "smoothed"},
                     {.rows = 300,
                      .nnz = 90'000,
                      .replicated = true,
                      .kernel = "dense inverse",
                      .prolongator = "thinned 1/8"}},
          .operator_complexity = 1.08,
          .grid_complexity = 1.045,
          .cycle = "V-cycle",
          .smoother = "Chebyshev polynomial of degree 2",
          .bytes = 120'000'000,
          .set_up = {.strength = 0.01,
                     .aggregation = 0.02,
                     .prolongator = 0.05,
                     .products = 0.3,
                     .distribution = 0.0001,
                     .kernels = 0.04,
                     .smoothers = 0.03,
                     .coarsest = 0.02,
                     .total = 0.5},
          .remark = "a remark"};
}

inline LadderOutcome sample_ladder() {
  return {.seen = "not symmetric, with a positive diagonal",
          .look_seconds = 0.004,
          .rungs = {{.method = "bicgstab",
                     .preconditioner = "jacobi",
                     .why = "the matrix is not symmetric",
                     .ran = true,
                     .iterations = 400,
                     .relative_residual = 0.03,
                     .seconds = 0.25,
                     .verdict = "left: the residual stood still for 200 iterations"},
                    {.method = "bicgstab2",
                     .preconditioner = "jacobi",
                     .scaling = Scaling::matching,
                     .why = "a matching brings large entries to the diagonal",
                     .ran = true,
                     .solved = true,
                     .iterations = 60,
                     .relative_residual = 9e-9,
                     .seconds = 0.05,
                     .verdict = "converged"}}};
}

inline PreconditionerChoice sample_choice() {
  return {.candidates = {{.name = "multigrid",
                          .chosen = true,
                          .measured = true,
                          .set_up_seconds = 0.5,
                          .iteration_us = 9000,
                          .solve_seconds = 0.1,
                          .pays_after = 2,
                          .verdict = "its set-up has paid after 2 solves"},
                         {.name = "jacobi", .verdict = "measured: it takes 4 times the time"}},
          .began_with = "jacobi",
          .solves = 10,
          .changed_at = 24};
}

// A tridiagonal matrix in 4 x 4 cells.
inline PatternPicture sample_pattern() {
  return {.cells = 4,
          .density = {9, 1, 0, 0, 1, 8, 1, 0, 0, 1, 8, 1, 0, 0, 1, 9},
          .row_lengths = {1, 0, 206'762}};
}

inline CaseOutcome sample_outcome() {
  CaseOutcome outcome;
  outcome.problem = {.name = "elasticity.h5 /A",
                     .generated = false,
                     .rows = 206'763,
                     .cols = 206'763,
                     .nnz = 16'100'000,
                     .rhs = "from-ones",
                     .rhs_note = "the file has no /b",
                     .x0 = "/x0"};
  outcome.machine.host = "node1";
  outcome.machine.cpu = "Some CPU @ 2.5GHz";
  outcome.machine.nodes = {{"node1", {0, 1}}};
  outcome.machine.ranks = 2;
  outcome.machine.petsc = "3.18.5";
  outcome.machine.triad_gbytes_per_s = 33.3;
  outcome.runs = {sample_run("csr", 0, 8000), sample_run("albus", 0.012, 6000),
                  sample_run("petsc-aij", 0.1, 9000)};
  outcome.runs[1].break_even_products = 6;
  outcome.runs[1].trial = sample_trial();
  outcome.runs[1].steps = {sample_step("/A0", 120), sample_step("/A1", 90)};
  outcome.runs[0].multigrid = sample_multigrid();
  outcome.runs[0].preconditioner_choice = sample_choice();
  outcome.runs[0].ladder = sample_ladder();
  outcome.runs[0].block = 2;
  outcome.runs[0].columns = {
      {.iterations = 300, .converged = true, .reason = "converged", .relative_residual = 9e-9},
      {.iterations = 313, .converged = true, .reason = "converged", .relative_residual = 8e-9}};
  outcome.distribution = DistributionOutcome{
      .distribution = Distribution::graph,
      .reason = "the case asks for it",
      .rows = {.ghosts = 182'000, .all_ghosts = 720'000, .balance = 1.01, .exchange_us = 900.0},
      .graph = HaloOutcome{.ghosts = 612, .all_ghosts = 2'300, .balance = 1.02, .exchange_us = 9.0},
      .expected_products = 300,
      .partitioner = "PT-Scotch",
      .from_cache = false,
      .partition_seconds = 1.5,
      .move_seconds = 0.2,
      .placement_hash = "0123456789abcdef"};
  outcome.start = {.libraries = 0.21,
                   .device = 0,
                   .read = 0.2,
                   .check = 0.01,
                   .split = 0.02,
                   .upload = 0,
                   .build = 0.012,
                   .tune = 0,
                   .setup = 0.01,
                   .total = 0.48};
  outcome.pattern = sample_pattern();
  outcome.case_text = "problem: {file: elasticity.h5}\n";
  outcome.command = "mpirun -n 2 solve --config case.yaml";
  outcome.pattern_hash = "0123456789abcdef";
  outcome.values_hash = "fedcba9876543210";
  return outcome;
}

}  // namespace trireme::test
