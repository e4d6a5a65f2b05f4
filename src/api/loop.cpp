// SPDX-License-Identifier: BSD-3-Clause
#include "api/loop.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "distributed/host_operator_system.hpp"
#include "distributed/row_sizes.hpp"
#include "planning/block_rule.hpp"
#include "solvers/cuda_block_solver.hpp"
#include "solvers/host_block_solver.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"

namespace trireme::api {
namespace {

using solvers::PreconditionerKind;
using solvers::PreconditionerSpec;

Array<double> diagonal_of(const DistributedMatrix& matrix) {
  Array<double> diagonal(static_cast<std::size_t>(matrix.local_rows()));
  matrix.diagonal(diagonal);
  return diagonal;
}

// In the layout of PreconditionerSpec::blocks, for natural blocks.
Array<double> blocks_of(const CsrMatrix<double>& matrix, std::int32_t size) {
  Array<double> blocks(static_cast<std::size_t>(matrix.rows * size), 0.0);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t first = row / size * size;
    for (std::int64_t k = matrix.row_begin(row); k < matrix.row_begin(row + 1); ++k) {
      const std::int64_t column = matrix.col_idx[k] - first;
      if (column >= 0 && column < size) blocks[row * size + column] += matrix.values[k];
    }
  }
  return blocks;
}

}  // namespace

Loop::Loop(std::shared_ptr<DistributedMatrix> matrix, std::shared_ptr<Operator> op,
           const solvers::NamedMethod& method, std::int32_t restart, const PreconditionerData& data,
           AnyPreconditioner preconditioner, StreamRef stream)
    : matrix_(std::move(matrix)),
      operator_(std::move(op)),
      method_(method),
      method_options_{.restart = restart},
      data_(data),
      preconditioner_(std::move(preconditioner)),
      stream_(stream) {
  make_system();
  if (cuda_system_ && method.info.host_only)
    fail(ExitCode::usage, "method {} works on CPUs only; use {}, or device cpu", method.info.name,
         solvers::info_of(method.method).name);
  make_preconditioner();
  make_solver();
}

Loop::~Loop() = default;

PreconditionerSpec Loop::spec() {
  PreconditionerSpec spec;
  spec.kind = preconditioner_.own()->kind;
  spec.magnitudes = method_.info.positive_preconditioner;
  const PreconditionerKind kind = spec.kind;
  if (preconditioner_.is_given()) {
    spec.given = given_.get();
    return spec;
  }
  // Blocks of one row are a diagonal.
  if (kind == PreconditionerKind::blocks && data_.block_size > 1) {
    spec.block_size = data_.block_size;
    entries_ = blocks_of(matrix_->blocks.local, data_.block_size);
    spec.blocks = entries_;
    return spec;
  }
  if (kind == PreconditionerKind::blocks) spec.kind = PreconditionerKind::jacobi;
  if (kind != PreconditionerKind::none) {
    entries_ = diagonal_of(*matrix_);
    spec.diagonal = entries_;
    spec.degree = data_.chebyshev_degree;
  }
  return spec;
}

void Loop::make_system() {
  if (auto cuda = std::dynamic_pointer_cast<CudaOperator>(operator_))
    cuda_system_ = std::make_unique<CudaOperatorSystem>(std::move(cuda));
  else
    host_system_ =
        std::make_unique<HostOperatorSystem>(std::dynamic_pointer_cast<HostOperator>(operator_));
}

void Loop::make_preconditioner() {
  given_ = {};
  given_ = GivenOperation(preconditioner_, matrix_, data_, cuda_system_ != nullptr);
}

void Loop::make_solver() {
  const PreconditionerSpec of = spec();
  if (cuda_system_) {
    auto made = std::make_unique<solvers::CudaSolver>(
        *cuda_system_, method_.method, method_.variant, of, solvers::CudaOptions{.stream = stream_},
        method_options_);
    cuda_solver_ = made.get();
    solver_ = std::move(made);
  } else {
    solver_ = std::make_unique<solvers::HostSolver>(*host_system_, method_.method,
                                                    method_.variant == solvers::Variant::automatic
                                                        ? solvers::Variant::classic
                                                        : method_.variant,
                                                    of, method_options_);
  }
  weigh_rows();
}

void Loop::weigh_rows() {
  const RowSizes& sizes = row_sizes(*matrix_);
  weighs_ = sizes.differ;
  const solvers::RowScale scale{.weighs = weighs_, .values = sizes.inverse};
  solver_->weigh_rows(scale);
  if (block_solver_) block_solver_->weigh_rows(scale);
}

void Loop::change_preconditioner(const AnyPreconditioner& preconditioner) {
  if (solver_ && preconditioner == preconditioner_) return;
  preconditioner_ = preconditioner;
  drop_solver();
  make_preconditioner();
  make_solver();
}

void Loop::change_operator(std::shared_ptr<Operator> op) {
  drop_solver();
  operator_ = std::move(op);
  make_system();
  make_solver();
}

bool Loop::uses_kernel() const {
  return !cuda_solver_ || cuda_solver_->mode() != solvers::CudaMode::persistent;
}

void Loop::drop_solver() {
  block_solver_.reset();
  cuda_block_solver_ = nullptr;
  solver_.reset();
  cuda_solver_ = nullptr;
}

void Loop::renew() {
  given_.renew();
  const PreconditionerSpec of = spec();
  solver_->renew(of);
  if (block_solver_) block_solver_->renew(of);
  weigh_rows();
}

solvers::SolveResult Loop::solve(const Numbers& b, Vector& x, bool zero_guess,
                                 const solvers::Tolerances& rule,
                                 const solvers::IterationObserver& observer) {
  if (cuda_solver_)
    return cuda_solver_->solve(b.on_gpu(), x.on_gpu(), zero_guess, b.gpu()->stream(), rule,
                               observer);
  return solver_->solve({.b = b.on_host(), .x = x.on_host(), .zero_guess = zero_guess}, rule,
                        observer);
}

void Loop::make_block_solver() {
  if (block_solver_) return;
  const PreconditionerSpec of = spec();
  if (cuda_system_) {
    auto made = std::make_unique<solvers::CudaBlockSolver>(*cuda_system_, method_.method,
                                                           method_.variant, of, method_options_);
    cuda_block_solver_ = made.get();
    block_solver_ = std::move(made);
  } else {
    block_solver_ = std::make_unique<solvers::HostBlockSolver>(
        *host_system_, method_.method, solver_->variant(), of, solvers::BlockForm::lockstep,
        method_options_);
  }
  weigh_rows();
}

// A given operation takes one column after another, and the persistent kernel reads no matrix.
bool Loop::together_pays(std::int64_t width) {
  const bool on_gpu = cuda_solver_ != nullptr;
  if (width < least_block(on_gpu) || given_.get()) return false;
  if (!uses_kernel()) return false;
  make_block_solver();
  const BlockCosts costs = block_costs(
      {.matrix = static_cast<double>(operator_->statistics().stored_bytes),
       .nonzeros = static_cast<double>(matrix_->blocks.nnz()),
       .products = method_.info.products,
       .column =
           bytes_per_column([&](std::int64_t columns) { return block_solver_->bytes(columns); }),
       .cache = last_cache_bytes(1),
       .width = width},
      on_gpu);
  return costs.together < costs.alone;
}

std::vector<solvers::SolveResult> Loop::solve_columns(
    const Numbers& b, Vector& x, std::int64_t width, bool zero_guess,
    const solvers::Tolerances& rule, std::span<const solvers::IterationObserver> observers,
    std::span<const double> atol) {
  make_block_solver();
  const std::int64_t rows = matrix_->local_rows();
  if (cuda_system_) {
    const DeviceMultiVector<const double> of_b{b.on_gpu().data(), rows, width, 1, rows};
    const DeviceMultiVector<double> of_x{x.on_gpu().data(), rows, width, 1, rows};
    return cuda_block_solver_->solve(of_b, of_x, zero_guess, b.gpu()->stream(), rule, observers,
                                     atol);
  }
  return block_solver_->solve(one_after_the_other(b.on_host().data(), rows, width),
                              one_after_the_other(x.on_host().data(), rows, width), zero_guess,
                              rule, observers, atol);
}

double Loop::product_microseconds() const {
  std::vector<float> us = operator_->times().kept();
  if (us.empty()) return 0;
  const auto middle = us.begin() + std::ssize(us) / 2;
  std::ranges::nth_element(us, middle);
  return *middle;
}

}  // namespace trireme::api
