// SPDX-License-Identifier: BSD-3-Clause
// Packs the entries of a vector that other ranks need, on the device.
#pragma once

#include <cstdint>

#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme {

// to[k] = x[rows[k]] for each k. `to` may be pinned host memory. The work is queued in `stream`.
void gather(DeviceSpan<const double> x, DeviceSpan<const std::int32_t> rows, DeviceSpan<double> to,
            StreamRef stream);
void gather(DeviceSpan<const float> x, DeviceSpan<const std::int32_t> rows, DeviceSpan<double> to,
            StreamRef stream);

}  // namespace trireme
