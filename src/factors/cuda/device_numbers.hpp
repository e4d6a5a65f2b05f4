// SPDX-License-Identifier: BSD-3-Clause
// The numbers of incomplete factors made by one GPU: make_numbers() of numbers.hpp, bit for bit.
// This header compiles without CUDA.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "factors/pattern.hpp"
#include "kernels/device_csr.hpp"

namespace trireme::factors {

// What the numbers need of a FactorPattern.
struct DevicePattern {
  std::int64_t rows = 0;
  std::int64_t levels = 0;   // of L
  std::int32_t longest = 0;  // entries of a row
  DeviceBuffer<std::int32_t> row_ptr, col_idx, diagonal;
  bool has_entries_of_a = false;  // then `place` is empty, and entry k of A has place k
  DeviceBuffer<std::int32_t> place;
  DeviceBuffer<std::int32_t> by_level;  // rows in the order of the levels of L

  std::int64_t nnz() const { return static_cast<std::int64_t>(col_idx.size()); }
};

// `a` has the pattern that `pattern` was made of. What both have in common is copied on the GPU.
// Waits for `stream`.
DevicePattern to_device(const FactorPattern& pattern, const DeviceCsr<double>& a, StreamRef stream);

struct DeviceNumbers {
  ScratchBuffer<double> values;  // of the pattern's entries; the diagonal has D^-1
  std::int64_t replaced = 0;     // as FactorNumbers has them
  double shift = 0;
  bool in_fp32 = true;  // all of L and U are 0 or normal numbers of FP32
};

// `a` has the pattern that `pattern` was made of. Waits for `stream`. Throws Error{resource} where
// the memory does not suffice.
DeviceNumbers make_numbers_on_device(const DevicePattern& pattern, const DeviceCsr<double>& a,
                                     bool definite, StreamRef stream);

}  // namespace trireme::factors
