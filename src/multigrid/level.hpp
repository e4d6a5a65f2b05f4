// SPDX-License-Identifier: BSD-3-Clause
// One level on the host: its matrix and operator, its smoother or its inverse, its vectors, and the
// way to the next coarser level.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/transposed_product.hpp"
#include "kernels/kernel.hpp"
#include "multigrid/cycle/cycle.hpp"
#include "multigrid/ranks/coarse_vector.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/ranks/replication.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/dense_inverse.hpp"
#include "multigrid/set_up/smoother_numbers.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "multigrid/set_up/triple_product.hpp"

namespace trireme::multigrid {

// From a level to the next coarser one. The kernels keep views of `coarsening.p` and of
// restriction(). A level that was read has neither rows nor product until it is renewed.
struct Transfer {
  Coarsening coarsening;
  std::optional<ExtendedRows> rows;       // of the finer level
  std::optional<Array<double>> x;         // of relaxed_constants.hpp; none: constants
  std::optional<TripleProduct> product;   // P^T A P, with P^T
  std::unique_ptr<CoarseVector> vector;   // null where the level lies whole on this rank
  CsrMatrix<double> read_restriction;     // P^T of a level that was read, until it is renewed
  Precision precision = Precision::full;  // of the values in the two kernels
  std::unique_ptr<HostKernel<double>> prolong, restrict_to;

  const CsrMatrix<double>& restriction() const {  // P^T
    return product ? product->restriction() : read_restriction;
  }
};

// Builds the kernels of P and P^T or gives them new values, in FP32 where `wanted` is mixed and
// they fit. The bits of their products do not depend on the number of threads.
void set_transfer_kernels(Transfer& transfer, Precision wanted);

struct Level {
  std::shared_ptr<DistributedMatrix> matrix;  // of the whole level on each rank if `replication`
  std::shared_ptr<DistributedMatrix> parts;  // of the same level on the ranks; null: `matrix` is it
  std::optional<Replication> replication;
  std::unique_ptr<HostOperator> op;  // null where the level is solved
  Precision precision = Precision::full;
  std::unique_ptr<TransposedProduct> transposed;  // of `op`; null until a transposed cycle needs it
  std::int64_t node_size = 1;
  SmootherNumbers smoother;
  double known_radius = 0;  // of a smoother that was read; 0: it has to be found
  DenseInverse inverse;
  std::optional<Transfer> transfer;  // none on the coarsest level
  Array<double> b, x, d, q;
  CycleLevel in_cycle;
};

}  // namespace trireme::multigrid
