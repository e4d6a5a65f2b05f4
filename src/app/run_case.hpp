// SPDX-License-Identifier: BSD-3-Clause
// A case from end to end: load, build each kernel, solve, measure. What apps/solve calls.
#pragma once

#include <mpi.h>

#include "app/case_observer.hpp"
#include "config/case.hpp"
#include "parallel/interrupt.hpp"
#include "report/outcome.hpp"

namespace trireme {

// Solves c with each of c.kernels in turn and returns the same CaseOutcome on every rank.
// Collective. Where c.report.solution is set, writes the solution into c.report.directory, which is
// made when it is missing (app/kept/solution_file.hpp). The reports are the caller's. `observer`
// may be null.
//
// A solve that does not converge or breaks down is an outcome, not an error: its exit_code is
// not_converged or breakdown, and the other kernels still run. Where kernels are compared and one
// of them throws Error{resource}, because it refuses the matrix or lacks memory, it is among the
// outcome's `refused`, and the other kernels still run. A signal noted on any rank ends the
// solve that runs; kernels that have not begun are the outcome's not_run. A solve that ends
// unconverged by a signal or at the iteration limit leaves state.h5 beside the solution, unless
// kernels are compared, and with c.report.resume the run goes on from that file
// (app/kept/saved_run.hpp). `interrupts`, where given, begins once the problem is loaded, because
// there is nothing to report before that.
//
// Throws the same Error on every rank for everything else: usage (a method, preconditioner or
// option that PETSc does not know, a kernel that lacks the device or precision), input (what
// load_problem() finds, a non-square matrix, a zero diagonal with jacobi), resource (no such
// device, out of memory). Expects PETSc to be initialised (petsc/session.hpp) with c.petsc among
// its options.
CaseOutcome run_case(MPI_Comm comm, const Case& c, CaseObserver* observer,
                     InterruptGuard* interrupts = nullptr);

// Throws what run_case() would throw before it reads the problem, for the method, the
// preconditioner, the kernels, the device and the precision. Collective.
void check_case(MPI_Comm comm, const Case& c);

}  // namespace trireme
