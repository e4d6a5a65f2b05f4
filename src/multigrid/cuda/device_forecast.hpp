// SPDX-License-Identifier: BSD-3-Clause
// Whether the memory of a GPU suffices for a hierarchy, before the work.
#pragma once

#include <cstdint>

#include "distributed/distributed_matrix.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// Upper bounds of the bytes that a DeviceHierarchy takes in GPU memory, beside the finest matrix.
// They hold for the matrices of forecast.hpp. `width` is the number of near-nullspace vectors, or
// 0.
struct DeviceForecast {
  std::int64_t built_there = 0;   // set-up and cycle, at the peak
  std::int64_t copied_there = 0;  // the cycle of a hierarchy that the host has built, likewise
};
DeviceForecast forecast_on_device(const DistributedMatrix& matrix, std::int32_t width,
                                  const Options& options);

// True where the current device has memory for a hierarchy that is built there, and false where it
// has memory only for one that is copied there. Throws Error{resource} with the figures where it
// has not even that.
bool has_room_for_set_up(const DistributedMatrix& matrix, std::int32_t width,
                         const Options& options);

// The same on several ranks, whose devices all need the memory; errors are thrown on every rank.
// Collective.
bool have_room_for_set_up(const DistributedMatrix& matrix, std::int32_t width,
                          const Options& options);

}  // namespace trireme::multigrid
