// SPDX-License-Identifier: BSD-3-Clause
// Orders of the rows of a matrix that is in GPU memory. A build without CUDA has the same function,
// which throws Error{resource}.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"

namespace trireme {

// The order that cluster_order() of ordering.hpp finds on the host. 24 bytes per nonzero are needed
// meanwhile. Throws Error{resource} where they do not fit into device memory. Waits for `stream`
// some times per level.
DeviceBuffer<std::int32_t> cluster_order(const DeviceCsr<double>& a, StreamRef stream);

}  // namespace trireme
