// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator P^T A P of this rank's coarse rows, and its renewal for new values.
#pragma once

#include "base/array.hpp"
#include "multigrid/level_matrix.hpp"
#include "multigrid/sparse_product.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// P is block-diagonal over the ranks, so that the coarse rows of a rank need only its rows of A:
//
//   local block of P^T A P = P^T (A_local P)       ghost block = P^T (A_ghost P_ghost)
//
// where row g of P_ghost is the row of P that belongs to ghost column g, in the caller's numbering
// of coarse ghosts. Columns ascend in both blocks. Each row of the local block has a diagonal
// entry. Where that is zero but for rounding (an empty column of P, or a part of the system that
// P's columns span and A maps to zero), the sum of p_ic^2 |a_ii| takes its place, or that of another
// column: the part is then solved with a correction that is small where its residual is.
class TripleProduct {
 public:
  // `run` is the block size of the coarse level: rows of P and of P_ghost consist of runs of so many
  // columns that begin at a multiple of it (1 says nothing about them, and is slower). Throws
  // Error{input} for a zero diagonal entry or a number that is not finite, Error{resource} for a
  // product of more than 2^31-1 nonzeros.
  TripleProduct(const LocalRows& a, const CsrView<double>& p, const CsrView<double>& p_ghost,
                std::int32_t run = 1);

  // Computes the numbers again from matrices of the same patterns.
  void renew(const LocalRows& a, const CsrView<double>& p, const CsrView<double>& p_ghost);

  const CsrMatrix<double>& local() const { return local_; }
  const CsrMatrix<double>& ghost() const { return ghost_; }
  const CsrMatrix<double>& restriction() const { return p_transposed_.matrix; }  // P^T
  std::int64_t repaired() const { return repaired_; }                            // diagonal entries
  std::int64_t bytes() const;

 private:
  void forget_values();
  void repair_diagonal(const LocalRows& a);

  ProductRules first_rules() const { return {ColumnOrder::as_they_come, false, run_}; }
  ProductRules local_rules() const { return {ColumnOrder::ascending, true, run_}; }
  ProductRules ghost_rules() const { return {ColumnOrder::ascending, false, run_}; }

  std::int32_t run_ = 1;
  Transposed p_transposed_;
  CsrMatrix<double> a_p_, a_p_ghost_;  // A P, without values between two calls
  CsrMatrix<double> local_, ghost_;
  std::int64_t repaired_ = 0;
};

}  // namespace trireme::multigrid
