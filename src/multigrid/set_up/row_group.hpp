// SPDX-License-Identifier: BSD-3-Clause
// A group of lanes that makes one row of a sparse matrix from a functor of make_rows.hpp: first the
// set of its columns, then the sums. A GPU runs this algorithm with lanes of a warp as the group.
//
// The group offers rank(), size(), sync(), sum(int), any(bool), ballot(bool), from(value, lane),
// which returns the value of that lane, and compare_and_swap(int*, expected, desired), which
// returns the number that was there. All lanes of the group call sync() and the functions that
// follow it here.
#pragma once

#include <bit>
#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::multigrid {

inline constexpr std::int32_t kNoColumn = -1;
inline constexpr std::int32_t kBehindAllColumns = 0x7fffffff;

// A row with a larger table can have long rows of another matrix as its terms, which lanes share.
inline constexpr std::int32_t kPlacesByEntries = 512;

TRIREME_HD std::int32_t power_of_two_from(std::int32_t count) {
  std::int32_t power = 1;
  while (power < count) power *= 2;
  return power;
}

// The columns of one row that have come up, by open addressing in a table of 2^n places. Where the
// table is too small, full() tells it.
template <int kWidth, class Group>
class ColumnSet {
 public:
  TRIREME_HD ColumnSet(const Group& group, std::int32_t* table, std::int32_t places)
      : group_(group), table_(table), places_(places) {
    for (std::int32_t k = group_.rank(); k < places_; k += group_.size()) table_[k] = kNoColumn;
    group_.sync();
  }

  // What a functor uses (make_rows.hpp). The order in which columns come does not matter here.
  static constexpr bool kOrdered = false;
  TRIREME_HD bool by_entries() const { return places_ <= kPlacesByEntries; }
  TRIREME_HD bool is_full() const { return full_; }
  TRIREME_HD std::int32_t lane() const { return group_.rank(); }
  TRIREME_HD std::int32_t lanes() const { return group_.size(); }
  TRIREME_HD void next() const {}
  TRIREME_HD double* at(std::int32_t column) {
    insert(column);
    return ignored_;
  }
  TRIREME_HD void insert(std::int32_t column) {
    std::uint32_t place = static_cast<std::uint32_t>(column) * 0x9e3779b1u >> 7;
    for (std::int32_t probe = 0; probe < places_ && !full_; ++probe, ++place) {
      std::int32_t* const slot = table_ + (place & static_cast<std::uint32_t>(places_ - 1));
      const std::int32_t old = group_.compare_and_swap(slot, kNoColumn, column);
      found_ += old == kNoColumn;
      if (old == kNoColumn || old == column) return;
    }
    full_ = true;
  }

  // The following functions are called by all lanes, after all columns have come.
  TRIREME_HD bool full() const { return group_.any(full_); }
  TRIREME_HD std::int32_t size() const { return group_.sum(found_); }

  // Brings the columns to the front of the table, in any order, and calls write(column, rank) by
  // one lane for each of them, where `rank` columns are smaller.
  template <class Write>
  TRIREME_HD void for_ranks(const Write& write) {
    group_.sync();
    const std::int32_t count = move_to_front();
    for (std::int32_t k = group_.rank(); k < count; k += group_.size()) {
      const std::int32_t column = table_[k];
      std::int32_t rank = 0;
      for (std::int32_t other = 0; other < count; ++other) rank += table_[other] < column;
      write(column, rank);
    }
  }

  // Brings the columns to the front of the table, ascending; returns their number.
  TRIREME_HD std::int32_t sort() {
    group_.sync();
    const std::int32_t count = move_to_front();
    const std::int32_t padded = power_of_two_from(count);
    for (std::int32_t k = count + group_.rank(); k < padded; k += group_.size())
      table_[k] = kBehindAllColumns;
    group_.sync();
    sort_bitonically(padded);
    return count;
  }

 private:
  TRIREME_HD std::int32_t move_to_front() {
    std::int32_t count = 0;
    for (std::int32_t base = 0; base < places_; base += group_.size()) {
      const std::int32_t column = table_[base + group_.rank()];
      const std::uint32_t taken = group_.ballot(column != kNoColumn);
      group_.sync();  // Columns are written over places that all lanes have read.
      if (column != kNoColumn)
        table_[count + std::popcount(taken & ((1u << group_.rank()) - 1))] = column;
      count += std::popcount(taken);
    }
    group_.sync();
    return count;
  }

  // Batcher's network (AFIPS 1968) for 2^n columns.
  TRIREME_HD void sort_bitonically(std::int32_t count) {
    for (std::int32_t run = 2; run <= count; run *= 2)
      for (std::int32_t distance = run / 2; distance > 0; distance /= 2) {
        for (std::int32_t pair = group_.rank(); pair < count / 2; pair += group_.size()) {
          const std::int32_t low = 2 * pair - (pair & (distance - 1)), high = low + distance;
          const std::int32_t a = table_[low], b = table_[high];
          const bool ascending = (low & run) == 0;
          if ((a > b) == ascending) table_[low] = b, table_[high] = a;
        }
        group_.sync();
      }
  }

  Group group_;
  std::int32_t* table_;
  std::int32_t places_;
  std::int32_t found_ = 0;  // by this lane
  bool full_ = false;       // as this lane has seen it
  double ignored_[kWidth];
};

// The columns of one row that have come up, ascending, for a single lane. Column k is
// list[k * stride], so that the lists of neighbouring lanes interleave. Where `places` do not
// suffice, full() tells it.
template <int kWidth>
class SortedColumns {
 public:
  TRIREME_HD SortedColumns(std::int32_t* list, std::int32_t stride, std::int32_t places)
      : list_(list), stride_(stride), places_(places) {}

  // What a functor uses.
  static constexpr bool kOrdered = false;
  TRIREME_HD static constexpr bool by_entries() { return true; }
  TRIREME_HD bool is_full() const { return full_; }
  TRIREME_HD static constexpr std::int32_t lane() { return 0; }
  TRIREME_HD static constexpr std::int32_t lanes() { return 1; }
  TRIREME_HD void next() const {}
  TRIREME_HD double* at(std::int32_t column) {
    insert(column);
    return ignored_;
  }
  // Columns often ascend, so that the search begins where the last one ended.
  TRIREME_HD void insert(std::int32_t column) {
    while (near_ > 0 && (*this)[near_ - 1] >= column) --near_;
    while (near_ < size_ && (*this)[near_] < column) ++near_;
    if (near_ < size_ && (*this)[near_] == column) return;
    full_ = full_ || size_ == places_;
    if (full_) return;
    for (std::int32_t k = size_; k > near_; --k) list_[k * stride_] = (*this)[k - 1];
    list_[near_ * stride_] = column;
    ++size_;
  }

  TRIREME_HD bool full() const { return full_; }
  TRIREME_HD std::int32_t size() const { return size_; }
  TRIREME_HD std::int32_t operator[](std::int32_t k) const { return list_[k * stride_]; }

 private:
  std::int32_t* list_;
  std::int32_t stride_, places_;
  std::int32_t size_ = 0, near_ = 0;
  bool full_ = false;
  double ignored_[kWidth];
};

// The sums of one row of up to kSets columns per lane, in registers. Column k belongs to lane
// k % lanes.
template <int kSets, class Group>
class OwnedSums {
 public:
  TRIREME_HD OwnedSums(const Group& group, const std::int32_t* columns, std::int32_t count)
      : group_(group) {
    for (int set = 0; set < kSets; ++set) {
      const std::int32_t k = group_.rank() + set * group_.size();
      columns_[set] = k < count ? columns[k] : kBehindAllColumns;
      sums_[set] = 0;
    }
  }

  // What a functor uses.
  static constexpr bool kOrdered = true, kByOwners = true;
  TRIREME_HD std::int32_t lane() const { return group_.rank(); }
  TRIREME_HD std::int32_t lanes() const { return group_.size(); }
  TRIREME_HD void insert(std::int32_t) const {}
  template <class Value>
  TRIREME_HD Value from(Value value, std::int32_t lane) const {
    return group_.from(value, lane);
  }
  // Adds the terms of the first `terms` lanes in their order; those of kNoColumn go nowhere. All
  // lanes call it.
  TRIREME_HD void add(std::int32_t column, double term, std::int32_t terms) {
    const std::int32_t lanes = terms < group_.size() ? terms : group_.size();
    for (std::int32_t lane = 0; lane < lanes; ++lane) {
      const std::int32_t to = group_.from(column, lane);
      const double value = group_.from(term, lane);
      for (int set = 0; set < kSets; ++set)
        if (to == columns_[set]) sums_[set] += value;
    }
  }

  TRIREME_HD void write(std::int32_t count, double* values) const {
    for (int set = 0; set < kSets; ++set) {
      const std::int32_t k = group_.rank() + set * group_.size();
      if (k < count) values[k] = sums_[set];
    }
  }

 private:
  Group group_;
  std::int32_t columns_[kSets];
  double sums_[kSets];
};

// The sums of one row whose columns are known and ascend. Column k of the row, a run, begins with
// the column columns[k * stride] of the matrix, in units of `unit` columns.
template <int kWidth, class Group>
class KnownColumns {
 public:
  TRIREME_HD KnownColumns(const Group& group, const std::int32_t* columns, std::int32_t count,
                          std::int32_t stride, double* sums)
      : group_(group), columns_(columns), count_(count), stride_(stride), sums_(sums) {
    for (std::int32_t k = group_.rank(); k < count_ * kWidth; k += group_.size()) sums_[k] = 0;
    group_.sync();
  }

  // What a functor uses. Between two calls of next(), the lanes come to different columns.
  static constexpr bool kOrdered = true, kByOwners = false;
  template <class Value>
  TRIREME_HD Value from(Value value, std::int32_t lane) const {
    return group_.from(value, lane);
  }
  TRIREME_HD std::int32_t lane() const { return group_.rank(); }
  TRIREME_HD std::int32_t lanes() const { return group_.size(); }
  TRIREME_HD void next() const { group_.sync(); }
  TRIREME_HD void insert(std::int32_t) const {}
  TRIREME_HD double* at(std::int32_t column) const {
    const std::int32_t wanted = column * stride_;
    std::int32_t low = 0, high = count_;
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      (columns_[middle * stride_] <= wanted ? low : high) = middle;
    }
    return sums_ + static_cast<std::int64_t>(low) * kWidth;
  }

 private:
  Group group_;
  const std::int32_t* columns_;
  std::int32_t count_, stride_;
  double* sums_;
};

}  // namespace trireme::multigrid
