// SPDX-License-Identifier: BSD-3-Clause
// Graphs of nodes in GPU memory: the functions of node_graph.hpp.
#pragma once

#include <cstdint>

#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_parts.hpp"

namespace trireme::multigrid {

void make_symmetric(DeviceGraph& graph, const CudaPlace& place);
DeviceGraph quotient(const DeviceGraph& graph, DeviceSpan<const std::int32_t> part,
                     std::int32_t parts, const CudaPlace& place);

}  // namespace trireme::multigrid
