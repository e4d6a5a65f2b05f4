// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator P^T A P where P crosses the borders of ranks, and its renewal for new values.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "multigrid/ranks/coarse_columns.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "multigrid/set_up/make_rows.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// A rank multiplies its rows of A with the rows of P that belong to their columns, of which it
// fetches those of ghosts. Its rows of P, transposed, times that product are terms of its coarse
// rows and of coarse rows of its neighbours, to which it sends them. Terms of a row are added in
// the order: own ones, and then those of the other ranks from rank 0 on.
class ProductOnRanks {
 public:
  // `p` has the local rows and the columns that `columns` describes; `run` is that of
  // TripleProduct. All objects must outlive this one. Where it is found before the work that the
  // ranks' P^T A P has more than `most` nonzeros, nothing is computed, and exceeds() is true.
  // Throws Error{resource} on every rank for a product of more than 2^31-1 nonzeros on one rank.
  // Collective.
  ProductOnRanks(const ExtendedRows& a, const CsrView<double>& p, const CoarseColumns& columns,
                 std::int32_t run, std::int64_t most = INT64_MAX);

  // Computes the numbers again from matrices of the same patterns. Collective.
  void renew(const ExtendedRows& a, const CsrView<double>& p);

  bool exceeds() const { return exceeds_; }
  double runs_of_terms() const { return runs_of_terms_; }  // of this rank's rows of A P, in runs
  // This rank's coarse rows, with global columns that ascend. The diagonal is that of
  // TripleProduct.
  CsrMatrix<double> rows() const;
  std::int64_t nnz() const { return sum_.nnz(); }  // of this rank's coarse rows
  const CsrMatrix<double>& restriction() const { return p_transposed_.matrix; }  // P^T
  std::int64_t repaired() const { return repaired_; }                            // diagonal entries
  std::int64_t bytes() const;

 private:
  void stack_pattern(const CsrView<double>& p);
  void stack_values(const CsrView<double>& p);
  void number_columns();
  void repair(const ExtendedRows& a);
  void forget_values();

  ProductRules first_rules() const { return {ColumnOrder::as_they_come, false, run_}; }
  ProductRules terms_rules() const { return {ColumnOrder::ascending, true, run_}; }

  const CoarseColumns* columns_;
  std::int32_t run_;
  double runs_of_terms_ = 0;
  bool exceeds_ = false;
  Transposed p_transposed_;
  GhostRows p_ghost_;
  Array<std::int32_t> columns_of_all_;  // global, of p_all_ from columns_->own() on
  CsrMatrix<double> p_all_;             // the rows of P of all columns of A
  CsrMatrix<double> a_p_;
  CsrMatrix<double> terms_;  // of all columns of P, as rows
  GhostRows received_;       // terms of this rank's coarse rows, from other ranks

  Array<std::int32_t> others_;  // coarse columns of other ranks in `sum_`, ascending
  Array<std::int32_t> place_of_term_, place_of_received_;  // columns of `sum_`
  Array<std::int32_t> first_received_, received_row_;      // by coarse row: its rows of received_
  CsrMatrix<double> sum_;  // column own + k is the coarse row others_[k]
  std::int64_t repaired_ = 0;
};

}  // namespace trireme::multigrid
