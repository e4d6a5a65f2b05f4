// SPDX-License-Identifier: BSD-3-Clause
// Members of the parts of a partition in GPU memory, by a stable sort.
#pragma once

#include <bit>
#include <cstdint>

#include "multigrid/cuda/cuda_place.cuh"

namespace trireme::multigrid {

// Part p has the items member[first[p]] .. member[first[p+1]-1], ascending. Items of the part -1
// stand behind all others.
struct DeviceMembers {
  ScratchBuffer<std::int32_t> first, member;
};
DeviceMembers members_of(DeviceSpan<const std::int32_t> part_of_item, std::int64_t parts,
                         const CudaPlace& place);

}  // namespace trireme::multigrid
