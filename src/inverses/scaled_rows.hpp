// SPDX-License-Identifier: BSD-3-Clause
// A, scaled, as far as the rows of a rank reach: what the set-up of an approximate inverse reads.
//
//   fsai   D^-1/2 A D^-1/2 with the diagonal D of A, whose diagonal is 1
//   spai   D^-1 A with the norms D of the rows, whose products of a row with itself are 1
//
// Small dense matrices taken from either are as well conditioned as a scaling can make them.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"

namespace trireme::inverses {

enum class RowScaling { diagonal, norms };

// A square matrix: the rows of this rank, and those of its ghosts, in ascending order of their
// numbers in A. Columns that are neither are left out.
class ScaledRows {
 public:
  // Throws Error on every rank: input where an entry of the diagonal is not positive, or a row is
  // zero for RowScaling::norms, resource where 32 bits do not number the rows of A. Collective.
  explicit ScaledRows(const DistributedMatrix& matrix, RowScaling scaling = RowScaling::diagonal);

  std::int64_t rows() const { return static_cast<std::int64_t>(begin_.size()) - 1; }
  // This rank has the rows first_own() .. first_own() + own() - 1.
  std::int64_t first_own() const { return first_own_; }
  std::int64_t own() const { return own_; }
  std::int64_t entries() const { return begin_[rows()]; }  // of all rows
  // The entries of a row: columns ascend, and each occurs once.
  std::span<const std::int32_t> columns(std::int64_t row) const {
    return std::span(columns_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  std::span<const double> values(std::int64_t row) const {
    return std::span(values_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  // 0 where the entry is not stored.
  double value(std::int64_t row, std::int32_t column) const;
  double scale(std::int64_t row) const { return scale_[row]; }  // D^-1/2 or D^-1
  // The row of A.
  std::int32_t number(std::int64_t row) const {
    return static_cast<std::int32_t>(numbers_.empty() ? first_number_ + row : numbers_[row]);
  }
  // The row with this number, which must be one of them.
  std::int32_t row_with(std::int32_t number) const;

 private:
  std::int64_t first_own_ = 0, own_ = 0, first_number_ = 0;
  Array<std::int32_t> numbers_;  // empty: consecutive from first_number_
  Array<std::int64_t> begin_;
  Array<std::int32_t> columns_;
  Array<double> values_, scale_;
};

}  // namespace trireme::inverses
