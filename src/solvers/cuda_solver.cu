// SPDX-License-Identifier: BSD-3-Clause
// The driver with a GPU as its backend: CUDA graphs, and the persistent kernel for small systems.
#include "solvers/cuda_solver.hpp"

#include <memory>
#include <span>
#include <variant>

#include "device/buffer.hpp"
#include "kernels/permutation.hpp"
#include "solvers/cuda_backend.cuh"
#include "solvers/driver.hpp"

namespace trireme::solvers {

struct CudaSolver::Work {
  CudaSystem& system;
  CudaBackend backend;
  Driver<CudaBackend> driver;

  Work(CudaSystem& of, Method method, Variant variant, const PreconditionerSpec& spec,
       const CudaOptions& options, const MethodOptions& of_method)
      : system(of), backend(of, options), driver(backend, method, variant, spec, of_method) {}
};

CudaSolver::CudaSolver(CudaSystem& system, Method method, Variant variant,
                       const PreconditionerSpec& spec, const CudaOptions& options,
                       const MethodOptions& of_method)
    : work_(std::make_unique<Work>(system, method, variant, spec, options, of_method)) {}
CudaSolver::~CudaSolver() = default;

SolveResult CudaSolver::solve(const SolveVectors& vectors, const Tolerances& rule,
                              const IterationObserver& observer) {
  const auto here = work_->backend.bring(vectors);
  const SolveResult result =
      work_->driver.solve(here.b, here.x, vectors.zero_guess, rule, observer);
  work_->backend.give_back(vectors);
  return result;
}

SolveResult CudaSolver::solve(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
                              StreamRef producer, const Tolerances& rule,
                              const IterationObserver& observer) {
  const auto here = work_->backend.bring(b, x, zero_guess, producer);
  const SolveResult result = work_->driver.solve(here.b, here.x, zero_guess, rule, observer);
  work_->backend.give_back(x);
  return result;
}

void CudaSolver::renew(const PreconditionerSpec& spec) { work_->driver.renew(spec); }

bool CudaSolver::renew_jacobi() {
  const auto* jacobi = std::get_if<Jacobi>(&work_->driver.preconditioner());
  return jacobi && work_->backend.invert_diagonal_into(jacobi->inverse_diagonal.values,
                                                       work_->driver.takes_magnitudes());
}

StoppedSolve CudaSolver::stopped() const {
  const CudaBackend& backend = work_->backend;
  const DeviceSpan<const std::int32_t> order = work_->system.order();
  const auto rows = static_cast<std::size_t>(backend.rows());
  const DeviceBuffer<double> in_callers_order(order.empty() ? 0 : rows, backend.stream());
  StoppedSolve stopped = work_->driver.last();
  for (const int k : work_->driver.directions()) {
    DeviceSpan<const double> from = backend.rows_of_vector(k);
    if (!order.empty()) {
      permute_back(from, order, in_callers_order.span(), backend.stream());
      from = in_callers_order.view();
    }
    Array<double>& into = stopped.directions.emplace_back(rows);
    copy_to_host(from, std::span<double>(into), backend.stream());
    synchronize(backend.stream());
  }
  return stopped;
}

void CudaSolver::go_on(const StoppedSolve& stopped) {
  if (stopped.new_space) return work_->driver.go_on(stopped);
  const CudaBackend& backend = work_->backend;
  const std::span<const int> places = work_->driver.directions();
  require_directions(stopped, places.size(), backend.rows());
  work_->driver.make_room_for_directions();
  const DeviceSpan<const std::int32_t> order = work_->system.order();
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::span<const double> from(stopped.directions[k]);
    const DeviceSpan<double> into = backend.rows_of_vector(places[k]);
    if (order.empty()) {
      copy_to_device(from, into, backend.stream());
    } else {
      const DeviceBuffer<double> in_callers_order = to_device(from, backend.stream());
      permute(in_callers_order.view(), order, into, backend.stream());
    }
    synchronize(backend.stream());
  }
  work_->driver.go_on(stopped);
}

bool CudaSolver::vectors_in_fp32() const { return work_->backend.vectors_in_fp32(); }
CudaMode CudaSolver::mode() const { return work_->backend.mode(); }
Variant CudaSolver::variant() const { return work_->driver.variant(); }
const PreparedPreconditioner& CudaSolver::preconditioner() const {
  return work_->driver.preconditioner();
}
void CudaSolver::weigh_rows(const RowScale& scale) { work_->driver.weigh_rows(scale); }
const RowWeights& CudaSolver::row_weights() const { return work_->driver.row_weights(); }

}  // namespace trireme::solvers
