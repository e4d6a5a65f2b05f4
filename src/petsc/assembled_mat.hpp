// SPDX-License-Identifier: BSD-3-Clause
// The distributed matrix as PETSc's own AIJ: for preconditioners, and as the kernel `petsc-aij`.
#pragma once

#include <memory>
#include <optional>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/event_ring.hpp"
#include "distributed/product_times.hpp"
#include "petsc/shim.hpp"

namespace trireme {

enum class AijUse {
  product,        // the entries as they are
  preconditioner  // the diagonal stored explicitly everywhere, as incomplete factorisations need it
};

// A block whose rows ascend (and, for a preconditioner, hold their diagonal) is shared with the
// matrix where PETSc's index is 32 bits wide; else it is copied. The ghost block's column ids are
// always copied: PETSc wants them global. Treat the Mat as read-only.
class AssembledMat {
 public:
  // MatMult of an AIJ, timed: the original function and where the times go.
  struct TimedMult {
    PetscErrorCode (*original)(Mat, Vec, Vec) = nullptr;
    ProductTimes times;
    std::optional<EventRing> events;  // on a GPU, in whose stream PETSc only queues the product
  };

  // Collective.
  AssembledMat(std::shared_ptr<const DistributedMatrix> matrix, AijUse use);
  AssembledMat(const AssembledMat&) = delete;
  AssembledMat& operator=(const AssembledMat&) = delete;

  Mat mat() const { return mat_; }
  // PETSc's aijcusparse from here on, its vectors on the GPU. Uploads the matrix and lets cuSPARSE
  // look at it, by a first product. Needs a PETSc with CUDA; before time_products(). Collective.
  void move_to_gpu();
  // MatMult is timed from here on.
  void time_products();
  // Of the products since; on a GPU this waits for the last one.
  ProductTimes& times();

 private:
  struct Block {
    Array<PetscInt> row_ptr, columns;  // empty where the matrix's own arrays serve
    Array<PetscScalar> values;
    PetscInt* i = nullptr;
    PetscInt* j = nullptr;
    PetscScalar* a = nullptr;
  };
  static Block share_or_copy(const CsrMatrix<double>& block, bool with_diagonal);

  std::shared_ptr<const DistributedMatrix> matrix_;
  Block local_, ghost_;
  bool on_gpu_ = false;
  std::unique_ptr<TimedMult> timed_;
  MatHandle mat_;
};

}  // namespace trireme
