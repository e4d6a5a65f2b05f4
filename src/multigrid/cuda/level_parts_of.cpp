// SPDX-License-Identifier: BSD-3-Clause
// A level that is solved has only the inverse of A.
#include "multigrid/cuda/level_parts_of.hpp"

namespace trireme::multigrid {

std::vector<DeviceLevelParts> level_parts_of(std::span<const DeviceLevel> levels) {
  std::vector<DeviceLevelParts> parts;
  for (const DeviceLevel& level : levels) {
    DeviceLevelParts& part = parts.emplace_back();
    part.rows = level.a.rows;
    if (level.solved) {
      part.kind = CycleLevel::Kind::solved;
      part.dense_inverse = level.dense_inverse.view();
      continue;
    }
    part.kind = CycleLevel::Kind::smoothed;
    part.precision = level.precision;
    part.transfer_precision = level.transfer_precision;
    part.smoothing = level.smoothing;
    part.block_size = level.block_size;
    part.a = level.a;
    part.inverse = level.inverse.view();
    if (level.p.row_ptr.empty()) continue;
    part.p = level.p.view();
    part.restriction = level.p_transposed.view();
  }
  return parts;
}

}  // namespace trireme::multigrid
