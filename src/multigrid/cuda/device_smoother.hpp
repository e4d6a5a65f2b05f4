// SPDX-License-Identifier: BSD-3-Clause
// The smoother of a level in GPU memory: what smoother_numbers() is on the host.
#pragma once

#include "device/stream.hpp"
#include "multigrid/cuda/device_ghosts.hpp"
#include "multigrid/cuda/device_level.hpp"
#include "multigrid/options.hpp"
#include "multigrid/set_up/smoother_numbers.hpp"

namespace trireme::multigrid {

// Makes or renews W, the spectral radius and the coefficients of `level`. Throws Error{input} as
// smoother_numbers() does. Collective where `rank` has other ranks.
void set_smoother(DeviceLevel& level, const Options& options, const SmoothedLevel& task,
                  StreamRef stream, const RankOfRows& rank = {});

}  // namespace trireme::multigrid
