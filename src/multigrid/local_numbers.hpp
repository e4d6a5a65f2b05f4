// SPDX-License-Identifier: BSD-3-Clause
// Local numbers of nodes, aggregates or columns: those of this rank first, and those of other ranks
// behind them, as far as this rank needs them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/array.hpp"

namespace trireme::multigrid {

// The numbers among `numbers` that are outside [first, first + own), once each and ascending. -1
// stands for none.
inline Array<std::int32_t> others_among(std::span<const std::int32_t> numbers, std::int64_t first,
                                        std::int64_t own) {
  Array<std::int32_t> others;
  for (const std::int32_t number : numbers)
    if (number >= 0 && (number < first || number >= first + own)) others.push_back(number);
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  return others;
}

class LocalNumbers {
 public:
  // This rank has the global numbers [first, first + own). `others` ascends, and must outlive the
  // object.
  LocalNumbers(std::int64_t first, std::int64_t own, std::span<const std::int32_t> others)
      : first_(first), own_(own), others_(others) {}

  // -1 for -1. Any other number is one of this rank or one of `others`.
  std::int32_t operator()(std::int32_t global) const {
    if (global < 0) return -1;
    if (global >= first_ && global < first_ + own_)
      return static_cast<std::int32_t>(global - first_);
    const auto place = std::lower_bound(others_.begin(), others_.end(), global);
    return static_cast<std::int32_t>(own_ + (place - others_.begin()));
  }

 private:
  std::int64_t first_, own_;
  std::span<const std::int32_t> others_;
};

}  // namespace trireme::multigrid
