// SPDX-License-Identifier: BSD-3-Clause
// One row of the factor G of a factorised sparse approximate inverse G^T G of a symmetric positive
// definite A with unit diagonal.
//
// For a row i and a pattern P of columns below i, the row of G is (y, 1) / sqrt(d), where
//
//   A(P, P) y = -A(P, i)          y minimises d = (y, 1) A(P + i, P + i) (y, 1)^T,
//
// so that G A G^T has a unit diagonal: L. Yu. Kolotilina, A. Yu. Yeremin, "Factorized sparse
// approximate inverse preconditionings I. Theory", SIAM J. Matrix Anal. Appl. 14 (1993), section 3.
// The pattern grows step by step where the gradient of d is largest, that is where the Kaporin
// number of G A G^T falls most: C. Janna, M. Ferronato, "Adaptive pattern research for block FSAI
// preconditioning", SIAM J. Sci. Comput. 33 (2011), section 3.
//
// The Cholesky factor of A(P, P) grows with P by one row per entry. An entry whose pivot is not
// clearly positive, because A is indefinite or as good as singular there, does not come in.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "inverses/growing_cholesky.hpp"
#include "inverses/scaled_rows.hpp"

namespace trireme::inverses {

class GrowingRow {
 public:
  // `a` must outlive this. Holds 12 bytes per row of `a`.
  explicit GrowingRow(const ScaledRows& a);

  // Makes row i in so many steps, fewer where no entry reduces d by a thousandth any more.
  void grow(std::int64_t i, std::int32_t steps);
  // Makes row i with this pattern of columns below i. An entry that cannot come in has the number
  // 0.
  void fill(std::int64_t i, std::span<const std::int32_t> pattern);

  // The row without its last entry, of column i: (column, number), in ascending order of columns.
  std::span<const std::pair<std::int32_t, double>> entries() const { return entries_; }
  double last() const;  // the number of column i

 private:
  bool add(std::int32_t column);
  void add_to_gradient(std::int64_t row, double factor);
  void begin(std::int64_t i);
  void end();

  const ScaledRows* a_;
  std::int64_t row_ = 0;
  std::vector<std::int32_t> pattern_;  // in the order in which the entries came in
  GrowingCholesky cholesky_;           // of A(P, P), for -A(P, i)
  double d_ = 1;
  std::vector<std::int32_t> place_;  // by column: 1 + the place in pattern_, or 0; -1: a candidate
  std::vector<double> gradient_;     // by column, 0 between two steps
  std::vector<std::int32_t> candidates_;
  std::vector<std::pair<std::int32_t, double>> entries_;
};

}  // namespace trireme::inverses
