// SPDX-License-Identifier: BSD-3-Clause
// CudaSolver and what is beside it in a build without CUDA: all throw Error{resource}.
#include "device/no_cuda.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/next_guess.hpp"
#include "solvers/preconditioners/inverse_diagonal.hpp"

namespace trireme::solvers {

void extrapolate(DeviceSpan<double>, DeviceSpan<double>, StreamRef) { no_cuda(); }
std::int64_t invert_diagonal_on_device(std::span<const DeviceRowBlock<double>>, DeviceSpan<double>,
                                       bool, StreamRef) {
  no_cuda();
}

struct CudaSolver::Work {};

CudaSolver::CudaSolver(CudaSystem&, Method, Variant, const PreconditionerSpec&, const CudaOptions&,
                       const MethodOptions&) {
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
bool CudaSolver::renew_jacobi() { no_cuda(); }
StoppedSolve CudaSolver::stopped() const { no_cuda(); }
void CudaSolver::go_on(const StoppedSolve&) { no_cuda(); }
bool CudaSolver::vectors_in_fp32() const { no_cuda(); }
CudaMode CudaSolver::mode() const { no_cuda(); }
Variant CudaSolver::variant() const { no_cuda(); }
const PreparedPreconditioner& CudaSolver::preconditioner() const { no_cuda(); }
void CudaSolver::weigh_rows(const RowScale&) { no_cuda(); }
const RowWeights& CudaSolver::row_weights() const { no_cuda(); }

}  // namespace trireme::solvers
