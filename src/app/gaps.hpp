// SPDX-License-Identifier: BSD-3-Clause
// The parts of a range that are missing, as many threads note them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace trireme {

class Gaps {
 public:
  struct Gap {
    std::int64_t first, count;
    bool operator==(const Gap&) const = default;
  };

  // Notes that [first, first + count) is missing. Any number of threads may call this at a time.
  void add(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    gaps_.push_back({first, count});
  }

  // The gaps in ascending order; gaps that touch each other are one. The gaps that were added do
  // not overlap.
  std::vector<Gap> joined() const {
    std::vector<Gap> sorted = gaps_;
    std::ranges::sort(sorted, {}, &Gap::first);
    std::vector<Gap> joined;
    for (const Gap& gap : sorted) {
      if (!joined.empty() && joined.back().first + joined.back().count == gap.first)
        joined.back().count += gap.count;
      else
        joined.push_back(gap);
    }
    return joined;
  }

 private:
  std::mutex mutex_;
  std::vector<Gap> gaps_;
};

}  // namespace trireme
