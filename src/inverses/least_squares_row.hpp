// SPDX-License-Identifier: BSD-3-Clause
// One row of a sparse approximate inverse M of any A whose rows are scaled to the norm 1.
//
// For a row i and a pattern P, the numbers y of row i of M minimise || y A(P, :) - e_i ||:
//
//   A(P, :) A(P, :)^T y = A(P, i)
//
// which makes || M A - I || in the Frobenius norm as small as the pattern allows. The pattern grows
// step by step by the rows of A that alone reduce the residual most: M. J. Grote, T. Huckle,
// "Parallel preconditioning with sparse approximate inverses", SIAM J. Sci. Comput. 18 (1997),
// section 3. The Cholesky factor of A(P, :) A(P, :)^T grows with P by one row per entry. An entry
// whose pivot is not clearly positive, because its row of A depends on those of P, does not come
// in.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "inverses/growing_cholesky.hpp"
#include "inverses/scaled_rows.hpp"

namespace trireme::inverses {

// The columns of scaled rows: in which rows each has entries, and the numbers.
class ScaledColumns {
 public:
  explicit ScaledColumns(const ScaledRows& a);
  std::span<const std::int32_t> rows(std::int64_t column) const {
    return std::span(rows_).subspan(begin_[column], begin_[column + 1] - begin_[column]);
  }
  std::span<const double> values(std::int64_t column) const {
    return std::span(values_).subspan(begin_[column], begin_[column + 1] - begin_[column]);
  }

 private:
  Array<std::int64_t> begin_;
  Array<std::int32_t> rows_;  // ascending in each column
  Array<double> values_;
};

class LeastSquaresRow {
 public:
  // Both must outlive this. `a` has RowScaling::norms. Holds 25 bytes per row of `a`.
  LeastSquaresRow(const ScaledRows& a, const ScaledColumns& columns);

  // Makes row i in so many steps, fewer where the residual is small or no entry reduces it. A row
  // of A with more than kLongRow entries does not grow, and comes into no other row.
  void grow(std::int64_t i, std::int32_t steps);
  // Makes row i with this pattern. An entry that cannot come in has the number 0.
  void fill(std::int64_t i, std::span<const std::int32_t> pattern);

  // The row of M: (column, number), in ascending order of columns. At least one number is not 0.
  std::span<const std::pair<std::int32_t, double>> entries() const { return entries_; }

 private:
  bool add(std::int32_t row);
  double product(std::int32_t row_in_work, std::int32_t of_pattern) const;
  void find_residual();
  void find_candidates();
  void begin(std::int64_t i);
  void end();

  const ScaledRows* a_;
  const ScaledColumns* columns_;
  std::int64_t row_ = 0;
  std::vector<std::int32_t> pattern_;  // in the order in which the entries came in
  GrowingCholesky cholesky_;           // of A(P, :) A(P, :)^T, for A(P, i)
  double residual_squared_ = 1;
  std::vector<double> residual_;       // by column of A, 0 between two steps
  std::vector<std::int32_t> support_;  // of the residual
  std::vector<double> gain_;        // by row of A: its product with the residual, 0 between steps
  std::vector<double> work_;        // by column of A: the row that comes in, 0 between two
  std::vector<std::uint8_t> seen_;  // by row of A: 1 in pattern_, 2 among the candidates
  std::vector<std::int32_t> candidates_;
  std::vector<std::pair<std::int32_t, double>> entries_;
};

}  // namespace trireme::inverses
