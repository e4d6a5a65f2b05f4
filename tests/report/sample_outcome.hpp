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
  return run;
}

inline CaseOutcome sample_outcome() {
  CaseOutcome outcome;
  outcome.problem = {.name = "elasticity.h5 /A",
                     .generated = false,
                     .rows = 206'763,
                     .cols = 206'763,
                     .nnz = 16'100'000,
                     .rhs = "from-ones"};
  outcome.machine.host = "node1";
  outcome.machine.cpu = "Some CPU @ 2.5GHz";
  outcome.machine.ranks = 2;
  outcome.machine.petsc = "3.18.5";
  outcome.machine.triad_gbytes_per_s = 33.3;
  outcome.runs = {sample_run("csr", 0, 8000), sample_run("albus", 0.012, 6000),
                  sample_run("petsc-aij", 0.1, 9000)};
  outcome.runs[1].break_even_products = 6;
  return outcome;
}

}  // namespace trireme::test
