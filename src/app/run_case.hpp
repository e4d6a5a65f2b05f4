// SPDX-License-Identifier: BSD-3-Clause
// A case from end to end: load, build each kernel, solve, measure. What apps/solve calls.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "config/case.hpp"
#include "parallel/interrupt.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Hears of a case as it goes on. Called on rank 0 only, between products: return quickly, do not
// communicate, do not throw.
struct Progress {
  virtual ~Progress() = default;
  // What begins now, in words: "reading cant.h5", "building albus".
  virtual void stage(std::string_view /*text*/) {}
  // The solves of kernel number `run` (from 0) begin: c.kernels.size() runs in all.
  virtual void solve_begins(int /*run*/, std::string_view /*kernel*/) {}
  // relative_residual: the norm that the solver tests, over ||b||. Iteration 0 comes first.
  virtual void iteration(int run, std::int64_t iteration, double relative_residual) = 0;
};

// Solves c with each of c.kernels in turn and returns the same CaseOutcome on every rank.
// Collective. Writes the solution (solution.h5, or solution-<kernel>.h5, with -mixed, for several)
// into c.report.directory, made when missing, when c.report.solution is set; nothing else is
// written: the reports are the caller's. `progress` may be null.
//
// A solve that does not converge or breaks down is an outcome, not an error: its exit_code is
// not_converged or breakdown, and the other kernels still run. A signal noted on any rank ends the
// solve that runs; kernels not begun by then are the outcome's not_run. What has not converged
// then, or at the iteration limit, leaves state.h5 beside the solution, unless kernels are
// compared, and with c.report.resume the run goes on from there (app/saved_run.hpp).
// `interrupts`, where given, begins once the problem is loaded, ahead of which there is nothing to
// report. Throws the same Error on every rank for everything else: usage (a method, preconditioner
// or option that PETSc does not know, a kernel that lacks the device or precision), input (what
// load_problem() finds, a non-square matrix, a zero diagonal with jacobi), resource (no such
// device, out of memory). Expects PETSc to be initialised (petsc/session.hpp) with c.petsc
// among its options.
CaseOutcome run_case(MPI_Comm comm, const Case& c, Progress* progress,
                     InterruptGuard* interrupts = nullptr);

// The files that run_case() may write.
std::vector<std::filesystem::path> files_of_run(const Case& c);

// What run_case() would refuse before it reads the problem: method, preconditioner, kernels,
// device, precision. `solve --check` then reads the problem too. Collective.
void check_case(MPI_Comm comm, const Case& c);

}  // namespace trireme
