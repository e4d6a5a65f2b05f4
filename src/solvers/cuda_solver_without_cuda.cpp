// SPDX-License-Identifier: BSD-3-Clause
// CudaSolver and extrapolate() in a build without CUDA: they throw Error{resource}.
#include "base/error.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/next_guess.hpp"

namespace trireme::solvers {
namespace {

[[noreturn]] void no_cuda() {
  fail(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}

}  // namespace

void extrapolate(DeviceSpan<double>, DeviceSpan<double>, StreamRef) { no_cuda(); }

struct CudaSolver::Work {};

CudaSolver::CudaSolver(CudaSystem&, Method, Variant, const PreconditionerSpec&,
                       const CudaOptions&) {
  no_cuda();
}
CudaSolver::~CudaSolver() = default;
SolveResult CudaSolver::solve(const SolveVectors&, const Tolerances&, const IterationObserver&) {
  no_cuda();
}
SolveResult CudaSolver::solve(DeviceSpan<const double>, DeviceSpan<double>, bool, StreamRef,
                              const Tolerances&, const IterationObserver&) {
  no_cuda();
}
void CudaSolver::renew(const PreconditionerSpec&) { no_cuda(); }
StoppedSolve CudaSolver::stopped() const { no_cuda(); }
void CudaSolver::go_on(const StoppedSolve&) { no_cuda(); }
CudaMode CudaSolver::mode() const { no_cuda(); }
Variant CudaSolver::variant() const { no_cuda(); }
const PreparedPreconditioner& CudaSolver::preconditioner() const { no_cuda(); }

}  // namespace trireme::solvers
