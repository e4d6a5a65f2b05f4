// SPDX-License-Identifier: BSD-3-Clause
// y = A x on all ranks by host kernels. The halo travels while the local product runs.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "distributed/operator.hpp"

namespace trireme {

// Several operators may share one matrix, and their kernels keep views of it.
class HostOperator final : public Operator {
 public:
  // Builds the named kernel for both blocks. Throws the same Error on every rank. Collective.
  HostOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
               Precision precision = Precision::full);

  void multiply(std::span<const double> x, std::span<double> y) override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  void refresh_values() override;
  double measure_product_us(int products) override;
  KernelStatistics statistics() const override;

 private:
  struct Kernels {
    std::unique_ptr<HostKernel<double>> local, ghost;  // ghost: null without ghosts
  };
  void pack(std::span<const double> x);
  void begin_halo(std::span<const double> x);
  void end_halo();
  void multiply(const Kernels& kernels, std::span<const double> x, std::span<double> y);

  Kernels kernels_;
  Kernels exact_;  // by csr, which needs no layout of its own; empty unless inexact()
  Array<double> packed_, ghosts_;
  HaloExchange exchange_;
};

}  // namespace trireme
