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
  preconditioner  // every row stores its diagonal, as incomplete factorisations need it
};

// A block is shared with the matrix where its rows ascend, PETSc's index is 32 bits wide, and (for
// a preconditioner) every row stores its diagonal. Otherwise the block is copied. The column ids of
// the ghost block are always copied, because PETSc wants global ones. The Mat is read-only.
class AssembledMat {
 public:
  // A timed MatMult: the original function, and the times.
  struct TimedMult {
    PetscErrorCode (*original)(Mat, Vec, Vec) = nullptr;
    ProductTimes times;
    std::optional<EventRing> events;  // on a GPU, where PETSc only queues the product
  };

  // Collective.
  AssembledMat(std::shared_ptr<const DistributedMatrix> matrix, AijUse use);
  AssembledMat(const AssembledMat&) = delete;
  AssembledMat& operator=(const AssembledMat&) = delete;

  Mat mat() const { return mat_; }
  // Takes the present values of the matrix, whose pattern is the same, and tells PETSc of the
  // change. Collective.
  void refresh_values();
  // Converts the matrix to PETSc's aijcusparse, whose vectors are on the GPU: uploads it, and makes
  // a first product, in which cuSPARSE analyses it. Needs a PETSc with CUDA, and comes before
  // time_products(). Collective.
  void move_to_gpu();
  // Times every MatMult that follows.
  void time_products();
  // The times since time_products(). On a GPU this waits for the last product.
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
  static void refresh(Block& copy, const CsrMatrix<double>& block, bool with_diagonal);

  std::shared_ptr<const DistributedMatrix> matrix_;
  AijUse use_;
  Block local_, ghost_;
  bool on_gpu_ = false;
  std::unique_ptr<TimedMult> timed_;
  MatHandle mat_;
};

}  // namespace trireme
