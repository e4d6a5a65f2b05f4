// SPDX-License-Identifier: BSD-3-Clause
// Where the message of each rank begins in the buffer of an MPI_Alltoallv.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace trireme {

// The sums of the counts before each one. Throws Error{resource} where all together exceed 2^31-1,
// which MPI's offsets cannot hold; `what` names the elements of the messages.
inline std::vector<int> message_starts(const std::vector<int>& counts, std::string_view what) {
  std::vector<int> starts(counts.size());
  std::int64_t all = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    starts[r] = static_cast<int>(all);
    all += counts[r];
    if (all > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::resource,
           "a rank would get more than 2^31-1 {}; use more ranks, or distribution: rows", what);
  }
  return starts;
}

}  // namespace trireme
