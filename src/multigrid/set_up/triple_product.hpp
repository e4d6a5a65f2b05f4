// SPDX-License-Identifier: BSD-3-Clause
// The coarse operator P^T A P of a level that lies whole on this rank, and its renewal for new
// values.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "multigrid/level_matrix.hpp"
#include "multigrid/set_up/sparse_product.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {

// Columns ascend, and each row has a diagonal entry. Where that is zero but for rounding (an empty
// column of P, or a part of the system that P's columns span and A maps to zero), the sum of p_ic^2
// |a_ii| takes its place, or that of another column: the part is then solved with a correction that
// is small where its residual is.
class TripleProduct {
 public:
  // `run` is the block size of the coarse level: rows of P consist of runs of so many
  // columns that begin at a multiple of it (1 says nothing about them, and is slower). Throws
  // Error{input} for a zero diagonal entry or a number that is not finite, Error{resource} for a
  // product of more than 2^31-1 nonzeros. Where it is found before the work that P^T A P has more
  // than `most` nonzeros, nothing is computed, and exceeds() is true.
  TripleProduct(const LocalRows& a, const CsrView<double>& p, std::int32_t run = 1,
                std::int64_t most = INT64_MAX);

  // Computes the numbers again from matrices of the same patterns.
  void renew(const LocalRows& a, const CsrView<double>& p);

  bool exceeds() const { return exceeds_; }
  double runs_of_terms() const { return runs_of_terms_; }  // of A P, in runs
  const CsrMatrix<double>& coarse() const { return coarse_; }
  const CsrMatrix<double>& restriction() const { return p_transposed_.matrix; }  // P^T
  std::int64_t repaired() const { return repaired_; }                            // diagonal entries
  std::int64_t bytes() const;

 private:
  void forget_values();
  void repair_diagonal(const LocalRows& a);

  ProductRules first_rules() const { return {ColumnOrder::as_they_come, false, run_}; }
  ProductRules coarse_rules() const { return {ColumnOrder::ascending, true, run_}; }

  std::int32_t run_ = 1;
  double runs_of_terms_ = 0;
  bool exceeds_ = false;
  Transposed p_transposed_;
  CsrMatrix<double> a_p_;  // A P, without values between two calls
  CsrMatrix<double> coarse_;
  std::int64_t repaired_ = 0;
};

}  // namespace trireme::multigrid
