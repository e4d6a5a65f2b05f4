// SPDX-License-Identifier: BSD-3-Clause
// Local numbers of nodes, aggregates or columns: those of this rank first, and those of other ranks
// behind them, as far as this rank needs them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "base/array.hpp"
#include "distributed/column_set.hpp"

namespace trireme::multigrid {

// The numbers among `numbers` that are outside [first, first + own), once each and ascending. -1
// stands for none.
inline Array<std::int32_t> others_among(std::span<const std::int32_t> numbers, std::int64_t first,
                                        std::int64_t own) {
  const auto is_other = [&](std::int32_t number) {
    return number >= 0 && (number < first || number >= first + own);
  };
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
  for (const std::int32_t number : numbers) {
    if (!is_other(number)) continue;
    lowest = std::min<std::int64_t>(lowest, number);
    highest = std::max<std::int64_t>(highest, number);
  }
  ColumnSet others(lowest, highest + 1);
  for (const std::int32_t number : numbers)
    if (is_other(number)) others.insert(number);
  return others.list<std::int32_t>();
}

class LocalNumbers {
 public:
  // This rank has the global numbers [first, first + own). `others` ascends.
  LocalNumbers(std::int64_t first, std::int64_t own, std::span<const std::int32_t> others)
      : first_(first),
        own_(own),
        others_(others.empty() ? 0 : others.front(), others.empty() ? 0 : others.back() + 1) {
    for (const std::int32_t number : others) others_.insert(number);
    others_.count();
  }

  // -1 for -1. Any other number is one of this rank or one of `others`.
  std::int32_t operator()(std::int32_t global) const {
    if (global < 0) return -1;
    if (global >= first_ && global < first_ + own_)
      return static_cast<std::int32_t>(global - first_);
    return static_cast<std::int32_t>(own_ + others_.index(global));
  }

 private:
  std::int64_t first_, own_;
  ColumnSet others_;
};

}  // namespace trireme::multigrid
