// SPDX-License-Identifier: BSD-3-Clause
// CudaBlockSolver in a build without CUDA: its constructor throws Error{resource}.
#include "device/no_cuda.hpp"
#include "solvers/cuda_block_solver.hpp"

namespace trireme::solvers {

struct CudaBlockSolver::Work {};

CudaBlockSolver::CudaBlockSolver(CudaSystem&, Method, Variant, const PreconditionerSpec&,
                                 const MethodOptions&) {
  no_cuda();
}
CudaBlockSolver::~CudaBlockSolver() = default;
std::vector<SolveResult> CudaBlockSolver::solve(MultiVector<const double>, MultiVector<double>,
                                                bool, const Tolerances&,
                                                std::span<const IterationObserver>,
                                                std::span<const double>) {
  no_cuda();
}
std::vector<SolveResult> CudaBlockSolver::solve(DeviceMultiVector<const double>,
                                                DeviceMultiVector<double>, bool, StreamRef,
                                                const Tolerances&,
                                                std::span<const IterationObserver>,
                                                std::span<const double>) {
  no_cuda();
}
std::int64_t CudaBlockSolver::bytes(std::int64_t) const { no_cuda(); }
void CudaBlockSolver::renew(const PreconditionerSpec&) { no_cuda(); }
void CudaBlockSolver::weigh_rows(const RowScale&) { no_cuda(); }
Variant CudaBlockSolver::variant() const { no_cuda(); }
const PreparedPreconditioner& CudaBlockSolver::preconditioner() const { no_cuda(); }

}  // namespace trireme::solvers
