// SPDX-License-Identifier: BSD-3-Clause
// The levels that a set-up on a GPU has built, as CudaHierarchy takes them.
#pragma once

#include <span>
#include <vector>

#include "multigrid/cuda/device_level.hpp"
#include "multigrid/cycle/level_parts.hpp"

namespace trireme::multigrid {

// Views of the arrays of `levels`, the finest one first.
std::vector<DeviceLevelParts> level_parts_of(std::span<const DeviceLevel> levels);

}  // namespace trireme::multigrid
