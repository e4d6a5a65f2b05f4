// SPDX-License-Identifier: BSD-3-Clause
// Builds and times what amat.hpp says.
#include "petsc/amat.hpp"

#include "petsc/exchange_options.hpp"

#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"
#include "petsc/log_events.hpp"
#include "petsc/mat_shell.hpp"
#include "planning/gpu_shares.hpp"

namespace trireme {

Amat::Amat(const std::shared_ptr<DistributedMatrix>& matrix, const KernelChoice& kernel)
    : on_gpu_(kernel.device == Device::cuda) {
  const PetscLogEvent event = log_events().build;
  petsc_check(PetscLogEventBegin(event, 0, 0, 0, 0));
  if (kernel.name == "petsc-aij") {
    Stopwatch watch;
    aij_ = std::make_unique<AssembledMat>(matrix, AijUse::product);
    build_seconds_ = watch.lap();
    if (on_gpu_) {
      aij_->move_to_gpu();
      upload_seconds_ = watch.lap();
    }
    aij_->time_products();
    statistics_.stored_bytes = matrix->csr_bytes();
  } else {
    if (on_gpu_) {
      cuda_ =
          std::make_shared<CudaOperator>(matrix, kernel.name, kernel.precision, exchange_options());
      operator_ = cuda_;
    } else {
      operator_ = std::make_shared<HostOperator>(matrix, kernel.name, kernel.precision);
    }
    statistics_ = operator_->statistics();
    shell_ = make_shell(operator_);
    build_seconds_ = operator_->build_seconds();
    upload_seconds_ = operator_->upload_seconds();
  }
  petsc_check(PetscLogEventEnd(event, 0, 0, 0, 0));
  build_seconds_ = max_over_ranks(matrix->comm, build_seconds_);
  upload_seconds_ = max_over_ranks(matrix->comm, upload_seconds_);
}

void Amat::choose_row_order(PetscSolver& solver) {
  if (!cuda_) return;
  solver.choose_row_order();
  statistics_ = operator_->statistics();
  build_seconds_ = max_over_ranks(cuda_->matrix().comm, cuda_->build_seconds());
}

std::string Amat::row_order_note() const {
  if (!cuda_ || cuda_->row_order_trial().callers_us == 0) return {};
  const PermutationTrial& trial = cuda_->row_order_trial();
  return fmt::format(
      "{} the row order of {}: {:.1f} us a product, {:.1f} in the matrix's (tried in {:.1f} ms)",
      cuda_->permuted() ? "solved in" : "no use for", cuda_->kernel(), trial.permuted_us,
      trial.callers_us, 1e3 * trial.seconds);
}

void Amat::time_products_if_none_was() {
  if (!cuda_ || times().count() > 0) return;
  constexpr int kProducts = 100;
  const Array<double> ones(cuda_->matrix().local_rows(), 1.0);
  const DeviceBuffer<double> x = to_device(std::span<const double>(ones), cuda_->stream());
  const DeviceBuffer<double> y(ones.size(), cuda_->stream());
  for (int product = 0; product < kProducts; ++product)
    cuda_->multiply(x.view(), y.span(), cuda_->stream());
}

std::string Amat::exchange() const {
  if (!cuda_ || !cuda_->exchange()) return {};
  const GpuExchange& exchange = *cuda_->exchange();
  const std::string name(exchange.name());
  return exchange.why_no_peers.empty() ? name : fmt::format("{}: {}", name, exchange.why_no_peers);
}

std::string Amat::advice_on_shares() const {
  if (!cuda_ || !cuda_->exchange() || cuda_->exchange()->name() == "mpi") return {};
  const DistributedMatrix& matrix = cuda_->matrix();
  return trireme::advice_on_shares(size_of(matrix.comm), matrix.global_nnz);
}

}  // namespace trireme
