// SPDX-License-Identifier: BSD-3-Clause
// The block of A that a rank factors for restricted additive Schwarz (Cai and Sarkis, "A Restricted
// Additive Schwarz Preconditioner for General Sparse Linear Systems", 1999): its own rows, and
// layers of rows of other ranks around them. A layer has the rows whose columns the rows so far
// name.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/halo.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "sparse/csr.hpp"

namespace trireme::factors {

// The rows ascend by their numbers in A, so that those of this rank are one after the other, and
// the columns are the same. Entries of A in other columns are left out.
class OverlappingBlock {
 public:
  // `layers` is at least 1. `matrix`, whose rows 32 bits must number, must outlive the object.
  // Throws Error{resource} on every rank. Collective.
  OverlappingBlock(const DistributedMatrix& matrix, std::int32_t layers);

  // Takes the present values of the matrix. Collective.
  void renew();

  CsrView<double> view() const { return block_.view(); }
  // Which entries of a vector come from other ranks, in the order of the rows.
  const HaloPlan& halo() const { return halo_; }
  std::int64_t before() const { return before_; }  // rows of other ranks before those of this one
  std::int64_t own() const { return own_; }

 private:
  void take_values();

  const DistributedMatrix* matrix_;
  std::int64_t own_, before_ = 0;
  multigrid::ExtendedRows rows_;
  multigrid::GhostRows ghosts_;
  HaloPlan halo_;
  CsrMatrix<double> block_;
  Array<std::int32_t> kept_;  // entries of ghosts_.rows(), in their order
};

}  // namespace trireme::factors
