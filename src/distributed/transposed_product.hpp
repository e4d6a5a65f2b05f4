// SPDX-License-Identifier: BSD-3-Clause
// y = A^T x on the host by the plain CSR of both blocks; the halo travels backwards.
#pragma once

#include <memory>
#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/halo.hpp"

namespace trireme {

// Serial on each rank, so the same bits from run to run.
class TransposedProduct {
 public:
  explicit TransposedProduct(std::shared_ptr<const DistributedMatrix> matrix);  // collective
  void multiply(std::span<const double> x, std::span<double> y);

 private:
  std::shared_ptr<const DistributedMatrix> matrix_;
  Array<double> packed_, ghosts_;
  HaloExchange exchange_;
};

}  // namespace trireme
