// SPDX-License-Identifier: BSD-3-Clause
// The parts of a range that are missing, as many threads note them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace trireme {

class MissingRanges {
 public:
  struct Range {
    std::int64_t first, count;
    bool operator==(const Range&) const = default;
  };

  // Notes that [first, first + count) is missing. Any number of threads may call this at a time.
  void add(std::int64_t first, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    ranges_.push_back({first, count});
  }

  // The ranges in ascending order; those that touch each other are one. The ranges that were added
  // do not overlap.
  std::vector<Range> joined() const {
    std::vector<Range> sorted = ranges_;
    std::ranges::sort(sorted, {}, &Range::first);
    std::vector<Range> joined;
    for (const Range& range : sorted) {
      if (!joined.empty() && joined.back().first + joined.back().count == range.first)
        joined.back().count += range.count;
      else
        joined.push_back(range);
    }
    return joined;
  }

 private:
  std::mutex mutex_;
  std::vector<Range> ranges_;
};

}  // namespace trireme
