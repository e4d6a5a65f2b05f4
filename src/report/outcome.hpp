// SPDX-License-Identifier: BSD-3-Clause
// What a run of solve has found, as plain data. Reports say what is here, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"
#include "base/error.hpp"
#include "report/distribution_outcome.hpp"
#include "report/ladder_outcome.hpp"
#include "report/multigrid_outcome.hpp"
#include "report/preconditioner_choice.hpp"

namespace trireme {

struct ProblemDescription {
  std::string name;  // file and group, or "generated: poisson3d, n = 128"
  bool generated = false;
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::string rhs;       // "/b", "can_b.mtx", "from-ones"
  std::string rhs_note;  // why, in words; or empty
  std::string x0;        // the dataset or the file of the initial guess; empty: zero
  std::string looks{};   // "symmetric, with a positive diagonal"; empty: nobody looked
};

// One of the machines, and the ranks that ran there, ascending.
struct NodeDescription {
  std::string host;
  std::vector<int> ranks;
};

struct MachineDescription {
  std::string host, cpu, gpu;          // of rank 0; gpu is empty where none is used
  std::vector<NodeDescription> nodes;  // in the order of their lowest ranks
  int ranks = 1, threads_per_rank = 1;
  std::string petsc, hdf5, mpi, trireme, simd;  // versions; the SIMD target that Highway chose
  // Of the program: its commit, its compilers, "GNU 12.2.0" and "12.4.131"; the driver of the GPUs.
  // Empty: not known.
  std::string commit{}, compiler{}, cuda{}, driver{};
  double triad_gbytes_per_s = 0;  // measured by this run, all ranks together; 0: not measured
  double best_gbytes_per_s = 0;   // of CPUs: the best of copy, triad and read; 0: not measured
  double gpu_gbytes_per_s = 0;    // of GPUs: copies; 0: not measured
  // Of CPUs, the best of copy, triad and read over arrays that together are as large as the matrix;
  // 0: not measured, because the matrix exceeds caches.
  double in_cache_gbytes_per_s = 0;
  double gpu_in_cache_gbytes_per_s = 0;  // likewise of GPUs: the better one of copy and read
};

// Microseconds of one product (local + ghost + halo wait) on the slowest rank.
struct KernelTiming {
  std::int64_t count = 0;
  double mean = 0, median = 0, p95 = 0, min = 0, max = 0;
};

// What a run spent, of the slowest rank.
struct Seconds {
  double read = 0;    // the problem, or all steps of it
  double tune = 0;    // the trial of `kernel: auto`, with the builds of what it did not choose
  double scale = 0;   // finding scales and scaling, before the first solve
  double order = 0;   // making the order of rows that is used, and bringing the matrix into it
  double build = 0;   // the layout of the kernel that is used
  double upload = 0;  // of the CSR to the GPU
  double setup = 0;   // the preconditioner and the engine, the first time
  double renew = 0;   // new values in the kernel and in the preconditioner, all steps
  double solve = 0;   // iterating, all solves
  double ladder = 0;  // the look at the matrix, and the rungs of `method: auto` that were left
};

// From the start of the process to the first iteration of the first run, on rank 0.
struct StartSeconds {
  double libraries = 0;  // before main(), MPI and PETSc
  double device = 0;     // choosing and opening the GPU, as far as the program waited for it
  double read = 0;       // file to memory
  double check = 0;      // rules of the format, as far as they took time of their own
  double split = 0;      // local and ghost columns, halo, hashes
  double upload = 0;
  double build = 0;
  double tune = 0;  // trial and orders before the first iteration
  double setup = 0;
  double total = 0;  // all of it; what no part names is the difference
};

// One kernel in one order of rows, as `kernel: auto` saw it.
struct TrialCandidate {
  std::string kernel;
  std::string ordering = "given";  // given, rcm, cluster
  std::string ghost_kernel{};      // multiplies by the columns of other ranks, if not `kernel`
  double predicted_us = 0;         // one product, by the cost model
  std::optional<double> build_seconds = std::nullopt;  // with the order; empty: not built
  std::optional<double> product_us = std::nullopt;     // median; empty: not measured
  bool chosen = false;
  std::string verdict;  // why it lost, or why it was chosen: a sentence without a full stop
};

// How `kernel: auto` came to its kernel.
struct TrialOutcome {
  std::vector<TrialCandidate> candidates;  // the chosen one first, then by measured time
  std::string began_with{};                // the kernel of the first iterations
  std::int64_t expected_products = 0;      // over which the choice is to pay
  std::string expected_from;               // "repeat: 10", "an earlier run", "the residual's slope"
  double budget_seconds = 0;
  double seconds = 0;       // spent
  bool from_cache = false;  // an earlier run measured; this one spent nothing
  // The iteration of the first solve at which the run went over to the chosen kernel; empty: it
  // began with it.
  std::optional<std::int64_t> changed_at;
};

// One step of problem.steps.
struct StepOutcome {
  std::string name;             // of the file or the dataset with the values, or of b
  bool new_values = false;      // of the matrix
  bool rebuilt = false;         // the plan was made anew
  bool renewed = false;         // the preconditioner
  bool new_aggregates = false;  // the renewal found new aggregates of multigrid
  std::string guess;            // previous, zero, extrapolate
  double guess_residual = 0;    // ||b - A x0|| / ||b||
  std::int64_t iterations = 0;
  bool converged = false;
  double relative_residual = 0;  // true: ||b - A x|| / ||b||
  double read_seconds = 0, renew_seconds = 0, solve_seconds = 0;
  double seconds = 0;  // from the beginning of this step to that of the next one
};

// One of several right-hand sides.
struct ColumnOutcome {
  std::int64_t iterations = 0;
  bool converged = false;
  std::string reason;
  double relative_residual = 0;                      // true: ||b - A x|| / ||b||
  std::optional<double> relative_row_residual = {};  // as of RunOutcome
  std::optional<double> relative_error = {};         // ||x - x_exact|| / ||x_exact||
  std::vector<double> history = {};                  // as RunOutcome::history
};

// The pattern of the matrix as a picture and its row lengths as a histogram. Empty: not gathered.
struct PatternPicture {
  std::int64_t cells = 0;             // per side
  std::vector<std::int64_t> density;  // cells x cells nonzeros, row by row
  std::vector<std::int64_t>
      row_lengths;  // [k]: rows of 2^(k-1) to 2^k - 1 nonzeros; [0]: empty rows
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
  std::int64_t iterations = 0;   // of the last solve
  double relative_residual = 0;  // true: ||b - A x|| / ||b||, plain CSR, double
  // The same with each row of b - A x and of b divided by its size; none: the rows have like sizes.
  std::optional<double> relative_row_residual;
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
  // The kernel against which break_even_products counts; empty: none was measured.
  std::string baseline;
  std::optional<std::int64_t> break_even_products;  // empty: never
  bool deterministic = true;
  // Mixed precision: how often the last solve's residual was replaced by b - A x in FP64.
  std::optional<std::int64_t> corrections;
  std::vector<std::string>
      notes;                    // "vectors staged through pinned memory: 1.3 us per product", ...
  std::vector<double> history;  // residual norms, relative to ||b||, from iteration 0
  std::string ordering = "given";  // the order of rows in which it worked: given, rcm, cluster
  std::string ghost_kernel{};      // multiplies by the columns of other ranks; empty: `kernel` does
  Scaling scaling = Scaling::none;            // of the system that the method worked on
  std::optional<TrialOutcome> trial;          // of `kernel: auto`
  std::optional<MultigridOutcome> multigrid;  // where that is the preconditioner
  std::optional<LadderOutcome> ladder;        // of `method: auto`
  std::optional<PreconditionerChoice> preconditioner_choice;  // of `preconditioner: auto`
  std::vector<StepOutcome> steps;                             // of problem.steps
  std::vector<ColumnOutcome>
      columns;                     // of the last round, where there are several right-hand sides
  std::int64_t block = 1;          // right-hand sides that were solved at once, at most
  std::vector<double> product_us;  // times of products in their order, at most 2,000 of them
  // product_us holds the timed products 0, stride, 2 * stride and so on.
  std::int64_t product_us_stride = 1;
};

// The name of a run among the runs of its outcome: csr, csr-mixed, auto-sell.
inline std::string label(const RunOutcome& run) {
  const std::string kernel = run.trial ? "auto-" + run.kernel : run.kernel;
  const bool full = run.precision == Precision::full;
  return full ? kernel : kernel + "-" + std::string(to_string(run.precision));
}

// A kernel without a result, because it refused the matrix or lacked memory, while other kernels of
// the case ran.
struct RefusedRun {
  std::string kernel;  // the name of the run: ell, csr-mixed
  std::string reason;  // one line: what, where, what to do
};

struct CaseOutcome {
  ProblemDescription problem;
  MachineDescription machine;
  std::vector<RunOutcome> runs;
  std::vector<RefusedRun> refused;
  std::vector<std::string> not_run;  // kernels that had not begun when a signal came
  StartSeconds start;
  std::optional<DistributionOutcome> distribution;  // empty on one rank
  PatternPicture pattern;
  std::string date{};                     // when the run began, "2026-11-28T01:25:03Z"
  std::string case_text;                  // the case as read, and what overrode it
  std::string command;                    // what repeats the run
  std::string pattern_hash, values_hash;  // of the whole matrix, 16 hexadecimal digits each
};

// 0 when every solve converged and none was left out, else the first failure's code.
inline ExitCode exit_code_of_solves(const CaseOutcome& outcome) {
  for (const RunOutcome& run : outcome.runs)
    if (run.exit_code != ExitCode::converged) return run.exit_code;
  return outcome.not_run.empty() ? ExitCode::converged : ExitCode::not_converged;
}

// The same, but ExitCode::resource when all solves converged and a kernel was refused.
inline ExitCode exit_code(const CaseOutcome& outcome) {
  const ExitCode of_solves = exit_code_of_solves(outcome);
  const bool only_refused = of_solves == ExitCode::converged && !outcome.refused.empty();
  return only_refused ? ExitCode::resource : of_solves;
}

}  // namespace trireme
