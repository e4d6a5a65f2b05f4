// SPDX-License-Identifier: BSD-3-Clause
// What a run of solve has found, as plain data. Reports say what is here, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"
#include "base/error.hpp"

namespace trireme {

struct ProblemDescription {
  std::string name;  // file and group, or "generated: poisson3d, n = 128"
  bool generated = false;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::string rhs;
};

struct MachineDescription {
  std::string host, cpu, gpu;  // gpu is empty where none is used
  int ranks = 1, threads_per_rank = 1;
  std::string petsc, hdf5, mpi, trireme, simd;  // versions; the SIMD target that Highway chose
  double triad_gbytes_per_s = 0;  // measured by this run, all ranks together; 0: not measured
};

// Microseconds of one product (local + ghost + halo wait) on the slowest rank.
struct KernelTiming {
  std::int64_t count = 0;
  double mean = 0, median = 0, p95 = 0, min = 0, max = 0;
};

struct Seconds {
  double read = 0, build = 0, upload = 0, setup = 0, solve = 0;
};

// The solves of one kernel. Where b = 0, ||b|| stands for the norm of the first residual, ||A x0||,
// as in PETSc's convergence test.
struct RunOutcome {
  std::string kernel, method, preconditioner;
  Device device = Device::cpu;
  Precision precision = Precision::full;
  Engine engine = Engine::resident;
  int ranks = 1;
  double rtol = 0;  // the tolerance that the solver was given, relative to ||b||
  ExitCode exit_code = ExitCode::internal;
  bool converged = false;
  std::string reason;    // in words, with PETSc's own name: "converged: rtol (CONVERGED_RTOL)"
  int petsc_reason = 0;  // KSPConvergedReason
  std::int64_t iterations = 0;           // of the last solve
  double relative_residual = 0;          // true: ||b - A x|| / ||b||, plain CSR, double
  std::optional<double> relative_error;  // ||x - x_exact|| / ||x_exact||
  Seconds seconds;
  std::vector<double> solve_seconds;  // of each solve; the first may include set-up
  KernelTiming kernel_us;
  double iteration_us = 0;              // solve seconds / iterations
  double gflops = 0, gbytes_per_s = 0;  // of the product
  std::optional<double> bandwidth_fraction;
  double padding = 0;
  std::int64_t bytes = 0;           // stored by the layout, all ranks
  std::int64_t peak_memory = 0;     // bytes, of the rank with the maximum, after building
  double peak_memory_over_csr = 0;  // of the same rank
  std::optional<std::int64_t> break_even_products;  // against csr; empty: never
  bool deterministic = true;
  // Mixed precision: how often the last solve's residual was replaced by b - A x in FP64.
  std::optional<std::int64_t> corrections;
  std::vector<std::string>
      notes;                    // "vectors staged through pinned memory: 1.3 us per product", ...
  std::vector<double> history;  // residual norms, relative to ||b||, from iteration 0
};

// The name of a run among the runs of its outcome: csr, or csr-mixed.
inline std::string label(const RunOutcome& run) {
  const bool full = run.precision == Precision::full;
  return full ? run.kernel : run.kernel + "-" + std::string(to_string(run.precision));
}

struct CaseOutcome {
  ProblemDescription problem;
  MachineDescription machine;
  std::vector<RunOutcome> runs;
  std::vector<std::string> not_run;  // kernels that had not begun when a signal came
};

// 0 when every kernel of the case ran and converged, else the first failure's code.
inline ExitCode exit_code(const CaseOutcome& outcome) {
  for (const RunOutcome& run : outcome.runs)
    if (run.exit_code != ExitCode::converged) return run.exit_code;
  return outcome.not_run.empty() ? ExitCode::converged : ExitCode::not_converged;
}

}  // namespace trireme
