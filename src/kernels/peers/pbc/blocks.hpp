// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a matrix, from its row lengths alone: what the builders decide on the host before
// entries are copied.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "kernels/peers/pbc/plan.hpp"

namespace trireme::pbc {

struct Blocks {
  // The rows with nonzeros in the order in which they are stored, and the place of the first
  // nonzero of each.
  Array<std::int32_t> rows;
  Array<std::int32_t> places;
  // As in the layout.
  Array<std::int32_t> dev_w;
  Array<std::int32_t> dev_p;
  Array<std::int32_t> empty_rows;
  std::int64_t long_rows = 0;
};

// All OpenMP threads share the panels.
Blocks make_blocks(std::span<const std::int32_t> row_ptr, const Plan& plan);

}  // namespace trireme::pbc
