// SPDX-License-Identifier: BSD-3-Clause
// Looks at all rows of a CSR in device memory, block by block: its diagonal, whether it is
// symmetric, and the sizes of its rows. Each function reads the CSR once and waits for `stream`. A
// build without CUDA has the same functions, which all throw Error{resource}.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "device/buffer.hpp"
#include "kernels/blocked_device_csr.hpp"
#include "sparse/row_facts.hpp"

namespace trireme {

struct InverseDiagonal {
  DeviceBuffer<double> values;  // 1 / a_ii, one per row; 1 for a zero or an entry that is missing
  std::optional<double> constant;  // of `values`, where all are equal and there is at least one row
  bool has_zero = false;           // some a_ii is zero or missing
};

// Entries of the same place are added up. With `magnitudes`, 1 / |a_ii| is taken. Throws
// Error{resource} where the memory does not suffice.
InverseDiagonal invert_diagonal(std::span<const DeviceRowBlock<double>> blocks, StreamRef stream,
                                bool magnitudes = false);

// See row_facts.hpp. The rows and columns of the matrix have the numbers first_row, first_row + 1,
// ... in the matrix of all ranks. Rows i with left_out[i] != 0 are left out, where it is not empty.
RowFacts row_facts(std::span<const DeviceRowBlock<double>> blocks, std::int64_t first_row,
                   DeviceSpan<const std::uint8_t> left_out, StreamRef stream);

// Of the largest magnitudes of the rows that have a nonzero.
struct RowSizeRange {
  double least = std::numeric_limits<double>::max();
  double greatest = 0;

  void take(double size) {
    if (size == 0) return;
    least = std::min(least, size);
    greatest = std::max(greatest, size);
  }
};

// A NaN does not count.
RowSizeRange row_size_range(std::span<const DeviceRowBlock<double>> blocks, StreamRef stream);

}  // namespace trireme
