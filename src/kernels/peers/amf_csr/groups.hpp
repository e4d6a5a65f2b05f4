// SPDX-License-Identifier: BSD-3-Clause
// The row blocks and sub-blocks of a matrix, from its row lengths alone: what the builders decide
// on the host before rows are folded.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "kernels/peers/amf_csr/thresholds.hpp"

namespace trireme::amf_csr {

// The members are those of the layout.
struct Groups {
  std::int64_t row_blocks = 0;
  std::int64_t sub_blocks = 0;
  int row_bits = 0;
  Array<std::int32_t> row_ptr;
  Array<std::int32_t> first_row;
};

// Takes O(rows) time. `csr_row_ptr` has rows + 1 offsets.
Groups make_groups(std::span<const std::int32_t> csr_row_ptr, std::int64_t cols,
                   const Thresholds& thresholds);

}  // namespace trireme::amf_csr
