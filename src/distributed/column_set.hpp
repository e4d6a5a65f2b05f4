// SPDX-License-Identifier: BSD-3-Clause
// A set of columns as bits, which numbers its members in ascending order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"

namespace trireme {

// Takes 3/16 byte per column between the first and the last one.
class ColumnSet {
 public:
  // For the columns [first, last).
  ColumnSet(std::int64_t first, std::int64_t last) : first_(first) {
    const std::size_t words = last > first ? static_cast<std::size_t>((last - first + 63) / 64) : 0;
    bits_.assign(words, 0);
    before_.resize(words);
  }
  void insert(std::int64_t column) {
    const std::uint64_t at = column - first_;
    bits_[at / 64] |= std::uint64_t{1} << (at % 64);
  }
  // The number of members. index() may be called after this.
  std::int32_t count() {
    std::int32_t count = 0;
    for (std::size_t word = 0; word < bits_.size(); ++word) {
      before_[word] = count;
      count += std::popcount(bits_[word]);
    }
    return count;
  }
  // The members in ascending order. index() may be called after this.
  template <class Column = std::int64_t>
  Array<Column> list() {
    Array<Column> members;
    members.reserve(count());
    for (std::size_t word = 0; word < bits_.size(); ++word)
      for (std::uint64_t rest = bits_[word]; rest != 0; rest &= rest - 1)
        members.push_back(static_cast<Column>(first_ + 64 * static_cast<std::int64_t>(word) +
                                              std::countr_zero(rest)));
    return members;
  }
  // The position of a member in list(), in constant time.
  std::int32_t index(std::int64_t column) const {
    const std::uint64_t at = column - first_;
    const std::uint64_t below = (std::uint64_t{1} << (at % 64)) - 1;
    return before_[at / 64] + std::popcount(bits_[at / 64] & below);
  }

 private:
  std::int64_t first_;
  std::vector<std::uint64_t> bits_;
  Array<std::int32_t> before_;
};

// The ascending positions of the columns that are not in [first, last).
template <class Column>
Array<std::int64_t> positions_outside(std::span<const Column> columns, std::int64_t first,
                                      std::int64_t last);
// The columns at the positions.
template <class Column>
ColumnSet columns_at(std::span<const Column> columns, std::span<const std::int64_t> positions);
// Those of `columns` that are not in [first, last). Takes 8 bytes per such entry meanwhile.
template <class Column>
ColumnSet columns_outside(std::span<const Column> columns, std::int64_t first, std::int64_t last);

}  // namespace trireme
