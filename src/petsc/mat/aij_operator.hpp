// SPDX-License-Identifier: BSD-3-Clause
// PETSc's own product on the host as an Operator, so that `kernel: auto` can try it beside the
// registered kernels and go over to it.
#pragma once

#include <memory>
#include <span>

#include "distributed/operator.hpp"
#include "petsc/mat/assembled_mat.hpp"
#include "petsc/shim.hpp"

namespace trireme {

class AijOperator final : public Operator {
 public:
  // In FP64. Collective.
  explicit AijOperator(const std::shared_ptr<DistributedMatrix>& matrix);

  void multiply(std::span<const double> x, std::span<double> y) override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  void refresh_values() override;
  double measure_product_us(int products) override;
  KernelStatistics statistics() const override;

 private:
  std::unique_ptr<AssembledMat> aij_;
  VecHandle x_, y_;  // have no arrays: a product places its arrays into them
};

}  // namespace trireme
