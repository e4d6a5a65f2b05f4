// SPDX-License-Identifier: BSD-3-Clause
// Stable sorts, by CUB's radix sort.
#include "device/sort.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <limits>

#include "device/with_scratch.cuh"

namespace trireme {
namespace {

constexpr int kAllBits = 32;

// Calls algorithm(scratch, bytes, count) as with_scratch() does. The count has 32 bits where they
// suffice, for which CUB sorts in larger tiles.
template <class Algorithm>
void with_count(std::size_t size, StreamRef stream, Algorithm&& algorithm) {
  const auto run = [&](auto count) {
    with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
      return algorithm(scratch, bytes, count);
    });
  };
  if (size <= std::numeric_limits<std::int32_t>::max())
    run(static_cast<std::int32_t>(size));
  else
    run(static_cast<std::int64_t>(size));
}

template <class Key, class Value>
void sort(DeviceSpan<const Key> keys, DeviceSpan<Key> sorted_keys, const Value* values,
          Value* sorted_values, int bits, StreamRef stream) {
  with_count(keys.size(), stream, [&](void* scratch, std::size_t& bytes, auto count) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.data(), sorted_keys.data(), values,
                                           sorted_values, count, 0, bits, stream);
  });
}

}  // namespace

void sort_pairs(DeviceSpan<const std::uint16_t> keys, DeviceSpan<std::uint16_t> sorted_keys,
                DeviceSpan<const std::int32_t> values, DeviceSpan<std::int32_t> sorted_values,
                int bits, StreamRef stream) {
  sort(keys, sorted_keys, values.data(), sorted_values.data(), bits, stream);
}

void sort_pairs(DeviceSpan<const std::uint32_t> keys, DeviceSpan<std::uint32_t> sorted_keys,
                DeviceSpan<const std::int32_t> values, DeviceSpan<std::int32_t> sorted_values,
                int bits, StreamRef stream) {
  sort(keys, sorted_keys, values.data(), sorted_values.data(), bits, stream);
}

void sort_pairs(DeviceSpan<const std::uint64_t> keys, DeviceSpan<std::uint64_t> sorted_keys,
                DeviceSpan<const std::int32_t> values, DeviceSpan<std::int32_t> sorted_values,
                int bits, StreamRef stream) {
  sort(keys, sorted_keys, values.data(), sorted_values.data(), bits, stream);
}

// A sort moves its values as they are, so that one algorithm serves both signs.
void sort_pairs(DeviceSpan<const std::uint64_t> keys, DeviceSpan<std::uint64_t> sorted_keys,
                DeviceSpan<const std::uint32_t> values, DeviceSpan<std::uint32_t> sorted_values,
                int bits, StreamRef stream) {
  sort(keys, sorted_keys, reinterpret_cast<const std::int32_t*>(values.data()),
       reinterpret_cast<std::int32_t*>(sorted_values.data()), bits, stream);
}

void sort_pairs(DeviceSpan<const std::uint32_t> keys, DeviceSpan<std::uint32_t> sorted_keys,
                DeviceSpan<const FourWords> values, DeviceSpan<FourWords> sorted_values, int bits,
                StreamRef stream) {
  sort(keys, sorted_keys, values.data(), sorted_values.data(), bits, stream);
}

void sort_pairs_descending(DeviceSpan<const std::int32_t> keys,
                           DeviceSpan<std::int32_t> sorted_keys,
                           DeviceSpan<const std::int32_t> values,
                           DeviceSpan<std::int32_t> sorted_values, StreamRef stream) {
  with_count(keys.size(), stream, [&](void* scratch, std::size_t& bytes, auto count) {
    return cub::DeviceRadixSort::SortPairsDescending(
        scratch, bytes, keys.data(), sorted_keys.data(), values.data(), sorted_values.data(), count,
        0, kAllBits, stream);
  });
}

void sort_keys_descending(DeviceSpan<const std::int32_t> keys, DeviceSpan<std::int32_t> sorted_keys,
                          StreamRef stream) {
  with_count(keys.size(), stream, [&](void* scratch, std::size_t& bytes, auto count) {
    return cub::DeviceRadixSort::SortKeysDescending(scratch, bytes, keys.data(), sorted_keys.data(),
                                                    count, 0, kAllBits, stream);
  });
}

}  // namespace trireme
