// SPDX-License-Identifier: BSD-3-Clause
// Three kinds of product: a Trireme kernel on the host, one on a GPU, and PETSc's own.
#include "petsc/mat/amat.hpp"

#include <algorithm>
#include <utility>

#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"
#include "petsc/exchange_options.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/log_events.hpp"
#include "petsc/mat/aij_operator.hpp"
#include "petsc/mat/assembled_mat.hpp"
#include "petsc/mat/case_kernels.hpp"
#include "petsc/mat/mat_shell.hpp"
#include "petsc/private_headers.hpp"
#include "planning/gpu_shares.hpp"

namespace trireme {
namespace {

// A Trireme kernel behind a MatShell.
class KernelAmat : public Amat {
 public:
  KernelAmat(std::shared_ptr<Operator> op, bool on_gpu)
      : Amat(on_gpu), operator_(std::move(op)), shell_(make_shell(operator_)) {
    const MPI_Comm comm = operator_->matrix().comm;
    build_seconds_ = max_over_ranks(comm, operator_->build_seconds());
    upload_seconds_ = max_over_ranks(comm, operator_->upload_seconds());
  }

  Mat mat() const override { return shell_; }
  ProductTimes& times() override { return operator_->times(); }
  KernelStatistics statistics() const override { return operator_->statistics(); }
  bool inexact() const override { return operator_->inexact(); }
  std::shared_ptr<Operator> shared_operator() const override { return operator_; }
  void replace_operator(const std::shared_ptr<Operator>& op, bool solver_starts_anew) override {
    trireme::replace_operator(shell_, op, solver_starts_anew);
    operator_ = op;
    build_seconds_ = max_over_ranks(operator_->matrix().comm, operator_->build_seconds());
  }
  bool refresh_values() override {
    if (!operator_->can_refresh()) return false;
    const PetscLogEvent event = log_events().update;
    petsc_check(PetscLogEventBegin(event, 0, 0, 0, 0));
    operator_->refresh_values();
    petsc_check(PetscLogEventEnd(event, 0, 0, 0, 0));
    note_change(static_cast<Mat>(shell_));
    return true;
  }
  std::vector<std::string> notes() override {
    if (operator_->ghost_refusals() == 0) return {};
    return {fmt::format(
        "{} refuses the columns of other ranks on {} of {} ranks, where plain CSR "
        "multiplies by them",
        operator_->ghost_kernel(), operator_->ghost_refusals(), size_of(operator_->matrix().comm))};
  }

 private:
  std::shared_ptr<Operator> operator_;
  MatHandle shell_;
};

// The same on a GPU, where the row order may be the kernel's own and vectors may be staged.
class CudaKernelAmat final : public KernelAmat {
 public:
  explicit CudaKernelAmat(std::shared_ptr<CudaOperator> op)
      : KernelAmat(op, true), operator_(std::move(op)) {}

  void replace_operator(const std::shared_ptr<Operator>& op, bool solver_starts_anew) override {
    operator_ = std::dynamic_pointer_cast<CudaOperator>(op);
    KernelAmat::replace_operator(op, solver_starts_anew);
  }

  void choose_row_order(KspSolver& solver) override {
    solver.choose_row_order();
    build_seconds_ = max_over_ranks(operator_->matrix().comm, operator_->build_seconds());
  }

  void time_products_if_none_was() override {
    if (times().count() > 0) return;
    const auto rows = static_cast<std::size_t>(operator_->matrix().local_rows());
    const int products = products_to_time(rows);
    if (operator_->time_float_products(products)) return;
    const DeviceBuffer<double> x(rows, operator_->stream()), y(rows, operator_->stream());
    constexpr int kByte = 0x3f;  // x = 4.8e-4 everywhere
    memory::fill(x.data(), kByte, rows * sizeof(double), operator_->stream());
    for (int product = 0; product < products; ++product)
      operator_->multiply(x.view(), y.span(), operator_->stream());
  }

  std::vector<std::string> notes() override {
    std::vector<std::string> notes = KernelAmat::notes();
    const DistributedMatrix& matrix = operator_->matrix();
    if (const GpuExchange* exchange = operator_->exchange()) {
      const std::string& why = exchange->why;
      notes.push_back(fmt::format("exchange between GPUs: {}{}{}", exchange->name(),
                                  why.empty() ? "" : ": ", why));
      if (exchange->name() != "mpi")
        if (std::string advice = advice_on_shares(size_of(matrix.comm), matrix.global_nnz);
            !advice.empty())
          notes.push_back(std::move(advice));
    }
    if (!operator_->has_entries())
      notes.push_back(fmt::format(
          "the GPU holds the layout of {} but not the matrix, whose {:.3g} GB would be more than a "
          "third of its free memory: new values go up block by block, and no other kernel was "
          "tried",
          operator_->kernel(), 1e-9 * static_cast<double>(matrix.csr_bytes())));
    if (const double us = max_over_ranks(matrix.comm, operator_->staging_us()); us > 0)
      notes.push_back(fmt::format(
          "vectors are staged through pinned memory: {:.1f} us per product beside it", us));
    if (const PermutationTrial& trial = operator_->row_order_trial(); trial.callers_us > 0)
      notes.push_back(fmt::format(
          "{} the row order of {}: {:.1f} us per product, {:.1f} in the order of the matrix (the "
          "trial took {:.1f} ms)",
          operator_->permuted() ? "solved in" : "not solved in", operator_->kernel(),
          trial.permuted_us, trial.callers_us, 1e3 * trial.seconds));
    return notes;
  }

 private:
  // The same number on every rank: as many as take some milliseconds, and enough for a median.
  int products_to_time(std::size_t rows) const {
    constexpr double kSeconds = 5e-3, kBytesPerSecond = 1e12, kLeast = 10, kMost = 100;
    const double bytes = static_cast<double>(operator_->statistics().stored_bytes) +
                         2.0 * sizeof(double) * static_cast<double>(rows);
    const double seconds = max_over_ranks(operator_->matrix().comm, bytes / kBytesPerSecond);
    return static_cast<int>(std::clamp(kSeconds / std::max(seconds, 1e-9), kLeast, kMost));
  }

  std::shared_ptr<CudaOperator> operator_;
};

// PETSc's own AIJ matrix and its product.
class PetscAmat final : public Amat {
 public:
  PetscAmat(const std::shared_ptr<DistributedMatrix>& matrix, bool on_gpu)
      : Amat(on_gpu), aij_(matrix, AijUse::product), bytes_(matrix->csr_bytes()) {
    build_seconds_ = watch_.lap();
    if (on_gpu) {
      aij_.move_to_gpu();
      upload_seconds_ = watch_.lap();
    }
    aij_.time_products();
    build_seconds_ = max_over_ranks(matrix->comm, build_seconds_);
    upload_seconds_ = max_over_ranks(matrix->comm, upload_seconds_);
  }

  Mat mat() const override { return aij_.mat(); }
  Mat assembled() const override { return aij_.mat(); }
  ProductTimes& times() override { return aij_.times(); }
  bool refresh_values() override {
    aij_.refresh_values();
    return true;
  }
  KernelStatistics statistics() const override {
    KernelStatistics statistics;
    statistics.stored_bytes = bytes_;
    return statistics;
  }

 private:
  Stopwatch watch_;  // begins ahead of the matrix
  AssembledMat aij_;
  std::int64_t bytes_;
};

std::unique_ptr<Amat> build(const std::shared_ptr<DistributedMatrix>& matrix,
                            const KernelChoice& kernel, std::shared_ptr<OrderedMatrix> ordered) {
  const bool on_gpu = kernel.device == Device::cuda;
  if (!find_case_kernel(kernel.name).entry) return std::make_unique<PetscAmat>(matrix, on_gpu);
  std::shared_ptr<Operator> op = make_operator(matrix, kernel, std::move(ordered));
  if (auto cuda = std::dynamic_pointer_cast<CudaOperator>(op))
    return std::make_unique<CudaKernelAmat>(std::move(cuda));
  return std::make_unique<KernelAmat>(std::move(op), false);
}

}  // namespace

void Amat::replace_operator(const std::shared_ptr<Operator>&, bool) {
  fail(ExitCode::internal, "PETSc's own product cannot be replaced");
}

std::unique_ptr<Amat> make_amat(const std::shared_ptr<DistributedMatrix>& matrix,
                                const KernelChoice& kernel,
                                std::shared_ptr<OrderedMatrix> ordered) {
  const PetscLogEvent event = log_events().build;
  petsc_check(PetscLogEventBegin(event, 0, 0, 0, 0));
  std::unique_ptr<Amat> amat = build(matrix, kernel, std::move(ordered));
  petsc_check(PetscLogEventEnd(event, 0, 0, 0, 0));
  return amat;
}

std::shared_ptr<Operator> make_operator(const std::shared_ptr<DistributedMatrix>& matrix,
                                        const KernelChoice& kernel,
                                        std::shared_ptr<OrderedMatrix> ordered) {
  if (kernel.name == kPetscAij) return std::make_shared<AijOperator>(matrix);
  if (!ordered) ordered = order_matrix(matrix, kernel.ordering, kernel.device);
  const OperatorOptions options{.precision = kernel.precision,
                                .ghost_kernel = kernel.ghost_kernel,
                                .ordered = std::move(ordered)};
  if (kernel.device == Device::cuda)
    return std::make_shared<CudaOperator>(matrix, kernel.name, options, exchange_options());
  return std::make_shared<HostOperator>(matrix, kernel.name, options);
}

}  // namespace trireme
