// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the persistent kernel, and the layout of a block's shared memory.
#pragma once

#include <cstdint>

#include "solvers/executors/cuda_control.cuh"

namespace trireme::solvers {

inline constexpr int kMaxExchanged = 5;  // the sums of a step, and the wish to stop
inline constexpr int kMaxPersistentBlocks = 160;
inline constexpr int kMaxClusterBlocks = 16;

// The parts of a block's dynamic shared memory, in the order in which they lie there.
struct SharedLayout {
  double* vectors;             // PersistentArguments::vectors of them, rows_per_block long each
  double* values;              // matrix values
  std::int32_t* columns;       // of `values`: own columns from 0, or codes of the exchange below 0
  std::int32_t* lengths;       // the number of entries of each row
  std::int32_t* slice_starts;  // the number of padded entries before each slice of 32 rows
};

// Pointers are to device memory unless the comment says otherwise.
struct PersistentArguments {
  std::int64_t rows;
  std::int64_t rows_per_block;
  std::int32_t entries;  // padded matrix entries for which a block has memory
  std::int32_t vectors;  // vectors in shared memory
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* matrix_values;
  State initial;
  Control* control;
  History history;
  DeviceResult* result;  // in the host's memory
  std::int64_t serial;   // the number of the solve
  unsigned* arrivals;    // GridExchange: one word, zero before and after the launch
  double* partials;      // GridExchange: 2 x kMaxExchanged x blocks partial sums
  double* twins;         // GridExchange: 2 x rows, copies of x that other blocks gather from
};

}  // namespace trireme::solvers
