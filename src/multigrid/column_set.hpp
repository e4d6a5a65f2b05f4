// SPDX-License-Identifier: BSD-3-Clause
// A set of column numbers that a thread of the host uses for one row at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/array.hpp"

namespace trireme::multigrid {

// Members have the places 0, 1, ... in the order in which they came. Its memory is 8 bytes per
// column that it can hold; emptying it costs one write per member.
class ColumnSet {
 public:
  explicit ColumnSet(std::int64_t cols) : place_(cols, -1), members_(cols) {}

  // Returns the place of the column, which becomes a member if it is none.
  std::int32_t insert(std::int32_t column) {
    std::int32_t& place = place_[column];
    if (place < 0) {
      place = size_;
      members_[size_++] = column;
    }
    return place;
  }
  // The place of a column, or -1.
  std::int32_t place(std::int32_t column) const { return place_[column]; }
  std::int32_t size() const { return size_; }
  std::int32_t member(std::int32_t place) const { return members_[place]; }

  // Writes the members, ascending, and empties the set.
  void take_ascending(std::int32_t* out) {
    std::int32_t* const begin = members_.data();
    // Most sets are small, and nearly in order.
    if (size_ <= 24) {
      for (std::int32_t k = 1; k < size_; ++k) {
        const std::int32_t column = begin[k];
        std::int32_t at = k;
        for (; at > 0 && begin[at - 1] > column; --at) begin[at] = begin[at - 1];
        begin[at] = column;
      }
    } else {
      std::sort(begin, begin + size_);
    }
    for (std::int32_t k = 0; k < size_; ++k) out[k] = begin[k];
    clear();
  }

  void clear() {
    for (std::int32_t k = 0; k < size_; ++k) place_[members_[k]] = -1;
    size_ = 0;
  }

  // For a row whose columns are known: sets their places to 0 .. count - 1, and takes them out.
  void number(const std::int32_t* columns, std::int32_t count) {
    for (std::int32_t k = 0; k < count; ++k) place_[columns[k]] = k;
  }
  void forget(const std::int32_t* columns, std::int32_t count) {
    for (std::int32_t k = 0; k < count; ++k) place_[columns[k]] = -1;
  }

 private:
  Array<std::int32_t> place_;  // by column; -1: no member
  Array<std::int32_t> members_;
  std::int32_t size_ = 0;
};

}  // namespace trireme::multigrid
