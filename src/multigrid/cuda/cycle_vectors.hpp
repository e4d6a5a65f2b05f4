// SPDX-License-Identifier: BSD-3-Clause
// The type of the vectors of a cycle on a GPU. A build without CUDA has none of these functions.
#pragma once

#include <span>

#include "device/stream.hpp"
#include "multigrid/cycle/level_parts.hpp"

namespace trireme::multigrid {

// Whether FP32 vectors serve a cycle: all values are stored in FP32, and the numbers of W and of a
// dense inverse keep the vectors far from the ends of FP32's range. Waits for the stream.
bool serves_in_fp32(std::span<const HostLevelParts> levels, StreamRef stream);
bool serves_in_fp32(std::span<const DeviceLevelParts> levels, StreamRef stream);

}  // namespace trireme::multigrid
