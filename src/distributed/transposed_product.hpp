// SPDX-License-Identifier: BSD-3-Clause
// y = A^T x on the host by the plain CSR of both blocks. Contributions to the rows of other ranks
// travel in the reverse direction of the halo.
#pragma once

#include <memory>
#include <span>

#include "base/array.hpp"
#include "base/choices.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/halo.hpp"

namespace trireme {

// Serial on each rank, so that every run gives the same bits.
class TransposedProduct {
 public:
  // Of the values themselves, or as FP32 stores them where `precision` is mixed. Collective.
  explicit TransposedProduct(std::shared_ptr<const DistributedMatrix> matrix,
                             Precision precision = Precision::full);
  // x and y have local_rows() numbers. Collective.
  void multiply(std::span<const double> x, std::span<double> y);

 private:
  std::shared_ptr<const DistributedMatrix> matrix_;
  Precision precision_;
  Array<double> packed_, ghosts_;
  HaloExchange exchange_;
};

}  // namespace trireme
