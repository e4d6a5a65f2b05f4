// SPDX-License-Identifier: BSD-3-Clause
// Stable sorts of numbers in device memory. This header compiles without CUDA.
#pragma once

#include <cstdint>

#include "device/span.hpp"
#include "device/stream.hpp"

// The functions queue their work in `stream` and do not wait for it. Their scratch memory is a
// ScratchBuffer. All spans of a call have the same size and do not overlap. The input stays as it
// is.
namespace trireme {

// Sorts by the lowest `bits` bits of the keys, in ascending order. Pairs with equal bits keep their
// order.
void sort_pairs(DeviceSpan<const std::uint16_t> keys, DeviceSpan<std::uint16_t> sorted_keys,
                DeviceSpan<const std::int32_t> values, DeviceSpan<std::int32_t> sorted_values,
                int bits, StreamRef stream);
void sort_pairs(DeviceSpan<const std::uint32_t> keys, DeviceSpan<std::uint32_t> sorted_keys,
                DeviceSpan<const std::int32_t> values, DeviceSpan<std::int32_t> sorted_values,
                int bits, StreamRef stream);
void sort_pairs(DeviceSpan<const std::uint64_t> keys, DeviceSpan<std::uint64_t> sorted_keys,
                DeviceSpan<const std::int32_t> values, DeviceSpan<std::int32_t> sorted_values,
                int bits, StreamRef stream);
void sort_pairs(DeviceSpan<const std::uint64_t> keys, DeviceSpan<std::uint64_t> sorted_keys,
                DeviceSpan<const std::uint32_t> values, DeviceSpan<std::uint32_t> sorted_values,
                int bits, StreamRef stream);

// A value of 16 bytes, whatever they hold.
struct alignas(16) FourWords {
  std::uint32_t words[4];
};
void sort_pairs(DeviceSpan<const std::uint32_t> keys, DeviceSpan<std::uint32_t> sorted_keys,
                DeviceSpan<const FourWords> values, DeviceSpan<FourWords> sorted_values, int bits,
                StreamRef stream);

// Sort by all bits of the keys, in descending order. Pairs with equal keys keep their order.
void sort_pairs_descending(DeviceSpan<const std::int32_t> keys,
                           DeviceSpan<std::int32_t> sorted_keys,
                           DeviceSpan<const std::int32_t> values,
                           DeviceSpan<std::int32_t> sorted_values, StreamRef stream);
void sort_keys_descending(DeviceSpan<const std::int32_t> keys, DeviceSpan<std::int32_t> sorted_keys,
                          StreamRef stream);

}  // namespace trireme
