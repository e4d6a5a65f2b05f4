// SPDX-License-Identifier: BSD-3-Clause
// The parts of an operator that do not depend on where its kernels run.
#include "distributed/operator.hpp"

#include "base/error.hpp"
#include "distributed/float_values.hpp"

namespace trireme {

Operator::Operator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
                   const OperatorOptions& options)
    : matrix_(std::move(matrix)),
      ordered_(options.ordered),
      kernel_(kernel),
      ghost_kernel_(options.ghost_kernel.empty() ? kernel_ : options.ghost_kernel),
      mixed_(options.precision == Precision::mixed) {
  if (ordered_ && &ordered_->matrix() != matrix_.get())
    fail(ExitCode::internal, "an operator got the order of another matrix");
}

void Operator::multiply_transpose(std::span<const double> x, std::span<double> y) {
  if (!transposed_) transposed_ = std::make_unique<TransposedProduct>(matrix_);
  transposed_->multiply(x, y);
}

void Operator::update_values(std::span<const double> values) {
  if (static_cast<std::int64_t>(values.size()) != matrix_->blocks.nnz())
    fail(ExitCode::usage, "update_values: {} values for a rank that holds {} nonzeros",
         values.size(), matrix_->blocks.nnz());
  matrix_->replace_values(values);
  if (!can_refresh())
    fail(ExitCode::usage,
         "update_values: this operator stores FP32 values only, and the new values are no FP32 "
         "numbers; create the operator again");
  refresh_values();
}

bool Operator::can_refresh() const {
  return !mixed_ || inexact_ || float_values_are_exact(*matrix_);
}

KernelStatistics Operator::combined(KernelStatistics local, const KernelStatistics& ghost) const {
  const auto local_nnz = static_cast<double>(matrix_->blocks.local.nnz());
  const auto ghost_nnz = static_cast<double>(matrix_->blocks.ghost.nnz());
  local.padding_ratio =
      (local.padding_ratio * local_nnz + ghost.padding_ratio * ghost_nnz) / (local_nnz + ghost_nnz);
  local.stored_bytes += ghost.stored_bytes;
  for (const BuildStep& step : ghost.steps)
    local.steps.push_back({fmt::format("ghost: {}", step.name), step.seconds});
  return local;
}

}  // namespace trireme
