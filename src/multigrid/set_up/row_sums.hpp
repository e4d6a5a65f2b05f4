// SPDX-License-Identifier: BSD-3-Clause
// The sums of one row of a sparse matrix while the row is made, on a thread of the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/array.hpp"

namespace trireme::multigrid {

// Holds kWidth sums for each column that has come up. A column is a run of kWidth columns of the
// matrix, numbered by runs. Columns have the places 0, 1, ... in the order in which they came.
template <int kWidth = 1>
class RowSums {
 public:
  explicit RowSums(std::int64_t columns)
      : place_(columns, -1), columns_(columns), sums_(columns * kWidth) {}

  // Lanes that share a functor (make_rows.hpp). Here the thread is the only one.
  static constexpr bool kOrdered = true, kByOwners = false;
  static constexpr std::int32_t lane() { return 0; }
  static constexpr std::int32_t lanes() { return 1; }
  static constexpr void next() {}
  template <class Value>
  static constexpr Value from(Value value, std::int32_t) {
    return value;
  }

  // The sums of a column, which are 0 at first.
  double* at(std::int32_t column) {
    std::int32_t place = place_[column];
    if (place < 0) place = append(column);
    return sums_.data() + static_cast<std::int64_t>(place) * kWidth;
  }
  void insert(std::int32_t column) { at(column); }

  std::int32_t size() const { return size_; }
  std::span<const std::int32_t> columns() const { return std::span(columns_).first(size_); }
  std::span<const double> sums() const {
    return std::span(sums_).first(static_cast<std::size_t>(size_) * kWidth);
  }

  // Appends these columns of the matrix, whole runs of kWidth.
  void append_runs(std::span<const std::int32_t> matrix_columns) {
    for (std::size_t k = 0; k < matrix_columns.size(); k += kWidth)
      append(matrix_columns[k] / kWidth);
  }

  // Brings the columns into ascending order, with their sums.
  void sort() {
    if (std::is_sorted(columns_.data(), columns_.data() + size_)) return;
    keys_.resize(size_);
    for (std::int32_t k = 0; k < size_; ++k)
      keys_[k] = static_cast<std::int64_t>(columns_[k]) << 32 | k;
    sort_keys();
    sorted_.resize(static_cast<std::int64_t>(size_) * kWidth);
    for (std::int32_t k = 0; k < size_; ++k) {
      columns_[k] = static_cast<std::int32_t>(keys_[k] >> 32);
      const double* const from = sums_.data() + (keys_[k] & 0xffffffff) * kWidth;
      std::copy(from, from + kWidth, sorted_.data() + static_cast<std::int64_t>(k) * kWidth);
    }
    std::copy(sorted_.begin(), sorted_.end(), sums_.begin());
  }

  void clear() {
    for (std::int32_t k = 0; k < size_; ++k) place_[columns_[k]] = -1;
    size_ = 0;
  }

 private:
  std::int32_t append(std::int32_t column) {
    place_[column] = size_;
    columns_[size_] = column;
    std::fill_n(sums_.data() + static_cast<std::int64_t>(size_) * kWidth, kWidth, 0.0);
    return size_++;
  }

  void sort_keys() {
    if (size_ > 40) {
      std::sort(keys_.begin(), keys_.end());
      return;
    }
    for (std::int32_t k = 1; k < size_; ++k) {
      const std::int64_t key = keys_[k];
      std::int32_t to = k;
      for (; to > 0 && keys_[to - 1] > key; --to) keys_[to] = keys_[to - 1];
      keys_[to] = key;
    }
  }

  Array<std::int32_t> place_;  // by column; -1: it has not come up
  Array<std::int32_t> columns_;
  Array<double> sums_;
  Array<std::int64_t> keys_;  // work of sort()
  Array<double> sorted_;
  std::int32_t size_ = 0;
};

}  // namespace trireme::multigrid
