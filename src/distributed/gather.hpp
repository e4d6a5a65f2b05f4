// SPDX-License-Identifier: BSD-3-Clause
// Packing of the halo on the device.
#pragma once

#include <cstdint>

#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme {

// to[k] = x[rows[k]]; `to` may be pinned host memory. Asynchronous in `stream`.
void gather(DeviceSpan<const double> x, DeviceSpan<const std::int32_t> rows, DeviceSpan<double> to,
            StreamRef stream);

}  // namespace trireme
