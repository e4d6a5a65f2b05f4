// SPDX-License-Identifier: BSD-3-Clause
// A build without CUDA has no solver on a GPU.
#include "base/error.hpp"
#include "solvers/cuda_solver.hpp"

namespace trireme::solvers {

class CudaSolver::Work {};

CudaSolver::CudaSolver(CudaSystem&, Method, Variant, const PreconditionerSpec&,
                       const CudaOptions&) {
  throw Error(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}
CudaSolver::~CudaSolver() = default;
SolveResult CudaSolver::solve(const SolveVectors&, const Tolerances&, const IterationObserver&) {
  return {};
}
SolveResult CudaSolver::solve(DeviceSpan<const double>, DeviceSpan<double>, bool, StreamRef,
                              const Tolerances&, const IterationObserver&) {
  return {};
}
StoppedSolve CudaSolver::stopped() const { return {}; }
void CudaSolver::go_on(const StoppedSolve&) {}
CudaMode CudaSolver::mode() const { return CudaMode::graph; }
Variant CudaSolver::variant() const { return Variant::classic; }
const Preconditioner& CudaSolver::preconditioner() const {
  throw Error(ExitCode::resource, "built without CUDA");
}

}  // namespace trireme::solvers
