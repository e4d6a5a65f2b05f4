// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums and totals of numbers in device memory. This header compiles without CUDA.
#pragma once

#include <cstdint>

#include "device/span.hpp"
#include "device/stream.hpp"

// The functions queue their work in `stream` and do not wait for it. Their scratch memory is a
// ScratchBuffer. `sums` has as many elements as `numbers` and may be the same memory; it must not
// overlap with `numbers` in part. Sums of 32 bits wrap around.
namespace trireme {

// sums[i] = numbers[0] + .. + numbers[i-1]; sums[0] = 0. For the total behind the sums, `numbers`
// gets one more element, whose value does not matter for any sum.
void exclusive_sum(DeviceSpan<const std::int32_t> numbers, DeviceSpan<std::int32_t> sums,
                   StreamRef stream);
void exclusive_sum(DeviceSpan<const std::uint32_t> numbers, DeviceSpan<std::uint32_t> sums,
                   StreamRef stream);
void exclusive_sum(DeviceSpan<const std::int64_t> numbers, DeviceSpan<std::int64_t> sums,
                   StreamRef stream);

// Replaces each number by the sum of those before it.
template <class Number>
void exclusive_sum_in_place(DeviceSpan<Number> numbers, StreamRef stream) {
  exclusive_sum(numbers, numbers, stream);
}

// Three exclusive sums at once: of numbers[3 i], of numbers[3 i + 1] and of numbers[3 i + 2]. The
// size is a multiple of 3.
void exclusive_sum_of_triples(DeviceSpan<const std::int32_t> numbers, DeviceSpan<std::int32_t> sums,
                              StreamRef stream);

// sums[i] = numbers[0] + .. + numbers[i].
void inclusive_sum(DeviceSpan<const std::int32_t> numbers, DeviceSpan<std::int32_t> sums,
                   StreamRef stream);

// *total = the sum of the numbers, in 64 bits; 0 without any. `total` is a device address.
void write_total(DeviceSpan<const std::int32_t> numbers, std::int64_t* total, StreamRef stream);

}  // namespace trireme
