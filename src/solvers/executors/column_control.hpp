// SPDX-License-Identifier: BSD-3-Clause
// What a GPU keeps for a lockstep solve beside the vectors: the scalars of each column, and a log
// of the iterations that the columns have ended.
#pragma once

#include <cstdint>

#include "solvers/state.hpp"

namespace trireme::solvers {

inline constexpr int kMaxColumns = 64;
inline constexpr int kLogSlots = 32;  // more than the iterations that the host queues ahead

// What the GPU keeps for one column of the block.
struct ColumnControl {
  State state;
  std::int32_t takes_part = 0;  // in the part of the algorithm that runs
  std::int64_t logged = 0;      // the steps that end an iteration so far, the same for all columns
};

// What such a step has left behind for one column.
struct LogEntry {
  double norm = 0;
  std::int64_t iteration = -1;  // -1: the column has not ended an iteration
};

// Lives in device memory; the host copies it as a whole.
struct BlockControls {
  ColumnControl columns[kMaxColumns];
  LogEntry log[kLogSlots][kMaxColumns];  // a ring of slots
};

struct BlockShape {
  std::int64_t rows = 0;
  std::int64_t stride = 0;  // elements from one row to the next
  std::int32_t width = 0;   // columns at work, 1 to kMaxColumns
};

}  // namespace trireme::solvers
