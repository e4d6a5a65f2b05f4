// SPDX-License-Identifier: BSD-3-Clause
// Selections of numbers in device memory, and sums of pairs by their keys. This header compiles
// without CUDA.
#pragma once

#include <cstdint>

#include "device/span.hpp"
#include "device/stream.hpp"

// The functions queue their work in `stream`. Their scratch memory is a ScratchBuffer. A flag is 0
// or 1. The spans of a call do not overlap; each result has room for all elements of the input.
namespace trireme {

// Copies the numbers whose flags are 1 to the front of `selected`, in their order. Returns how many
// they are; waits for `stream`.
std::int64_t select_flagged(DeviceSpan<const std::uint8_t> flags,
                            DeviceSpan<const std::int32_t> numbers,
                            DeviceSpan<std::int32_t> selected, StreamRef stream);
// The same for the numbers 0 .. flags.size() - 1.
std::int64_t select_flagged(DeviceSpan<const std::uint8_t> flags, DeviceSpan<std::int32_t> selected,
                            StreamRef stream);

// Writes the numbers 0 .. flags.size() - 1: those whose flags are 1 in ascending order, then the
// others in descending order. Returns how many flags are 1; waits for `stream`.
std::int64_t partition_flagged(DeviceSpan<const std::uint8_t> flags,
                               DeviceSpan<std::int32_t> numbers, StreamRef stream);

// Replaces each run of equal keys by one key in `unique_keys` and by the sum of its values in
// `sums`, in the order of the runs. *runs becomes the number of runs; it is a device address. There
// are fewer than 2^31 keys. Sums wrap around. Does not wait for `stream`.
void sum_by_key(DeviceSpan<const std::uint64_t> keys, DeviceSpan<const std::uint32_t> values,
                DeviceSpan<std::uint64_t> unique_keys, DeviceSpan<std::uint32_t> sums,
                std::int32_t* runs, StreamRef stream);

}  // namespace trireme
