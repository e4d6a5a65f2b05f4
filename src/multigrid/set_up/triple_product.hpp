// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator P^T A P, and its renewal for new values.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "multigrid/ranks/coarse_columns.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// A rank multiplies its rows of A with the rows of P that belong to their columns, of which it
// fetches those of ghosts. Its rows of P, transposed, times that product are terms of its coarse
// rows and of coarse rows of its neighbours, to which it sends them. Terms of a row are added in
// the order: own ones, and then those of the other ranks from rank 0 on. On a rank that has no
// neighbours, the terms are the coarse rows, and nothing is copied.
//
// Columns ascend, and each row has a diagonal entry. Where that is zero but for rounding (an empty
// column of P, or a part of the system that P's columns span and A maps to zero), the sum of p_ic^2
// |a_ii| takes its place, or that of another column: the part is then solved with a correction that
// is small where its residual is.
class TripleProduct {
 public:
  // `p` has the rows of `a` and the columns that `columns` describes. `run` is the block size of
  // the coarse level: rows of P consist of runs of so many columns that begin at a multiple of it
  // (1 says nothing about them, and is slower). Throws the same Error on every rank: input for a
  // zero diagonal entry or a number that is not finite, resource for a product of more than 2^31-1
  // nonzeros on one rank. Where it is found before the work that P^T A P has more than `most`
  // nonzeros, nothing is computed, and exceeds() is true. Collective.
  TripleProduct(const ExtendedRows& a, const CsrView<double>& p, CoarseColumns columns,
                std::int32_t run = 1, std::int64_t most = INT64_MAX);
  // Of rows that lie whole on this rank.
  TripleProduct(const ExtendedRows& a, const CsrView<double>& p, std::int32_t run = 1,
                std::int64_t most = INT64_MAX)
      : TripleProduct(a, p, whole_columns(p.cols), run, most) {}

  // Computes the numbers again from matrices of the same patterns. Collective.
  void renew(const ExtendedRows& a, const CsrView<double>& p);

  bool exceeds() const { return exceeds_; }
  double runs_of_terms() const { return runs_of_terms_; }  // of this rank's rows of A P, in runs
  // This rank's coarse rows. Their columns are numbered like those of P, with further columns of
  // other ranks behind them; rows() has global columns, which ascend.
  const CsrMatrix<double>& coarse() const { return adds_ ? sum_ : terms_; }
  CsrMatrix<double> rows() const;
  const CsrMatrix<double>& restriction() const { return p_transposed_.matrix; }  // P^T
  std::int64_t repaired() const { return repaired_; }  // diagonal entries of this rank
  std::int64_t bytes() const;

 private:
  void stack_pattern(const CsrView<double>& p);
  void stack_values(const CsrView<double>& p);
  // The rows of P of all columns of A.
  CsrView<double> of_all(const CsrView<double>& p) const {
    return p_ghost_.rows().rows > 0 ? p_all_.view() : p;
  }
  void number_columns();
  void add_up(bool again);
  void repair(const ExtendedRows& a);
  void forget_values();

  ProductRules first_rules() const { return {ColumnOrder::as_they_come, false, run_}; }
  ProductRules terms_rules() const { return {ColumnOrder::ascending, true, run_}; }

  CoarseColumns columns_;
  std::int32_t run_ = 1;
  double runs_of_terms_ = 0;
  bool exceeds_ = false;
  Transposed p_transposed_;
  GhostRows p_ghost_;
  Array<std::int32_t> columns_of_all_;  // global, of of_all() from columns_.own() on
  CsrMatrix<double> p_all_;             // of_all() where there are ghosts
  CsrMatrix<double> a_p_;               // A P, without values between two calls
  CsrMatrix<double> terms_;             // of all columns of P, as rows
  GhostRows received_;                  // terms of this rank's coarse rows, from other ranks

  bool adds_ = false;           // whether other ranks have terms of coarse rows, or columns in them
  Array<std::int32_t> others_;  // coarse columns of other ranks in `sum_`, ascending
  Array<std::int32_t> place_of_term_, place_of_received_;  // columns of `sum_`
  Array<std::int32_t> first_received_, received_row_;      // by coarse row: its rows of received_
  CsrMatrix<double> sum_;  // column own + k is the coarse row others_[k]
  std::int64_t repaired_ = 0;
};

// The places of the columns of ghosts' rows of P among those of this rank's rows. `all` becomes the
// columns from columns.own() on, by their global numbers: the ghosts of `columns`, and behind them
// those of `of_ghosts` that this rank's rows lack.
Array<std::int32_t> place_of_ghosts(const CoarseColumns& columns,
                                    const Array<std::int32_t>& of_ghosts, Array<std::int32_t>& all);

// Coarse rows of this rank with global columns, which ascend. Column own() + k of `from` is the
// coarse row others[k], which ascend.
CsrMatrix<double> with_global_columns(const CsrMatrix<double>& from, const CoarseColumns& columns,
                                      std::span<const std::int32_t> others);

}  // namespace trireme::multigrid
