// SPDX-License-Identifier: BSD-3-Clause
// The distributed operator on hosts as the resident engine sees it.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <utility>

#include "distributed/host_operator.hpp"
#include "solvers/host_solver.hpp"

namespace trireme {

// Works in the order of the operator's kernels.
class HostOperatorSystem final : public solvers::HostSystem {
 public:
  explicit HostOperatorSystem(std::shared_ptr<HostOperator> op);
  std::int64_t rows() const override { return op_->matrix().local_rows(); }
  std::span<const std::int32_t> order() const override;
  void multiply(std::span<const double> x, std::span<double> y) override {
    op_->multiply_in_order(x, y);
  }
  bool inexact() const override { return op_->inexact(); }
  std::span<const float> row_defect() const override { return op_->row_defect_in_order(); }
  // Products by the kernel are timed, those beside it are not.
  void multiply_exactly(std::span<const double> x, std::span<double> y) override {
    if (!inexact()) return multiply(x, y);
    op_->multiply_exactly_in_order(x, y);
  }
  void multi_multiply(MultiVector<const double> x, MultiVector<double> y) override {
    op_->multi_multiply_in_order(x, y);
  }
  void multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) override {
    if (!inexact()) return multi_multiply(x, y);
    op_->multi_multiply_exactly_in_order(x, y);
  }
  bool multiply_and_dot(MultiVector<const double> x, MultiVector<double> y, std::int64_t chunk_rows,
                        double* dots) override {
    return op_->multiply_and_dot_in_order(x, y, chunk_rows, dots);
  }
  void sum(std::span<double> values) override;
  int processes() const override { return processes_; }

 private:
  std::shared_ptr<HostOperator> op_;
  int processes_;
};

}  // namespace trireme
