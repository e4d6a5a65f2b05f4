// SPDX-License-Identifier: BSD-3-Clause
// Selections of numbers and sums by key, by CUB.
#include "device/select.hpp"

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_select.cuh>

#include "device/with_scratch.cuh"

namespace trireme {
namespace {

using CountUp = thrust::counting_iterator<std::int32_t>;

struct Add {
  __host__ __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a + b;
  }
};

template <class Numbers>
std::int64_t select(Numbers numbers, DeviceSpan<const std::uint8_t> flags, std::int32_t* selected,
                    StreamRef stream) {
  if (flags.empty()) return 0;
  const ScratchBuffer<std::int64_t> found(1, stream);
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, numbers, flags.data(), selected, found.data(),
                                      static_cast<std::int64_t>(flags.size()), stream);
  });
  return read_back(found.data(), stream);
}

}  // namespace

std::int64_t select_flagged(DeviceSpan<const std::uint8_t> flags,
                            DeviceSpan<const std::int32_t> numbers,
                            DeviceSpan<std::int32_t> selected, StreamRef stream) {
  return select(numbers.data(), flags, selected.data(), stream);
}

std::int64_t select_flagged(DeviceSpan<const std::uint8_t> flags, DeviceSpan<std::int32_t> selected,
                            StreamRef stream) {
  return select(CountUp(0), flags, selected.data(), stream);
}

std::int64_t partition_flagged(DeviceSpan<const std::uint8_t> flags,
                               DeviceSpan<std::int32_t> numbers, StreamRef stream) {
  if (flags.empty()) return 0;
  const ScratchBuffer<std::int64_t> found(1, stream);
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DevicePartition::Flagged(scratch, bytes, CountUp(0), flags.data(), numbers.data(),
                                         found.data(), static_cast<std::int64_t>(flags.size()),
                                         stream);
  });
  return read_back(found.data(), stream);
}

void sum_by_key(DeviceSpan<const std::uint64_t> keys, DeviceSpan<const std::uint32_t> values,
                DeviceSpan<std::uint64_t> unique_keys, DeviceSpan<std::uint32_t> sums,
                std::int32_t* runs, StreamRef stream) {
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(scratch, bytes, keys.data(), unique_keys.data(),
                                          values.data(), sums.data(), runs, Add{},
                                          static_cast<std::int32_t>(keys.size()), stream);
  });
}

}  // namespace trireme
