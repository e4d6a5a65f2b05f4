// SPDX-License-Identifier: BSD-3-Clause
// What a launch of the persistent kernel is given, and how a block lays out its shared memory.
#pragma once

#include <cstdint>

#include "solvers/executors/cuda_control.cuh"

namespace trireme::solvers {

inline constexpr int kMaxExchanged = 5;  // sums of a step, and the wish to stop
inline constexpr int kMaxPersistentBlocks = 160;
inline constexpr int kMaxClusterBlocks = 16;

// Where the parts of a block lie in its dynamic shared memory, in this order.
struct SharedLayout {
  double* vectors;  // `count` of them, rows_per_block long each
  double* values;
  std::int32_t* columns;
  std::int32_t* lengths;       // of each row
  std::int32_t* slice_starts;  // entries before each slice of 32 rows
};

struct PersistentArguments {
  std::int64_t rows;
  std::int64_t rows_per_block;
  std::int32_t entries;
  std::int32_t vectors;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* matrix_values;
  State initial;
  Control* control;
  History history;
  DeviceResult* result;  // in the host's memory
  std::int64_t serial;   // of the solve
  unsigned* arrivals;    // grid: one word, zero before and after the launch
  double* partials;      // grid: 2 x kMaxExchanged x blocks
  double* twins;         // grid: 2 x rows: what others gather
};

}  // namespace trireme::solvers
