// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums and totals, by CUB. All numbers are integers, so that every run gives the same bits.
#include "device/scan.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "device/with_scratch.cuh"

namespace trireme {
namespace {

// Rows of three numbers as they lie in memory.
struct Triple {
  std::int32_t a = 0, b = 0, c = 0;
};
struct AddTriples {
  __host__ __device__ Triple operator()(const Triple& l, const Triple& r) const {
    return {l.a + r.a, l.b + r.b, l.c + r.c};
  }
};
struct AddWide {
  __host__ __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const {
    return a + b;
  }
};

template <class Number>
void sum_before(const Number* numbers, Number* sums, std::size_t size, StreamRef stream) {
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, numbers, sums,
                                         static_cast<std::int64_t>(size), stream);
  });
}

}  // namespace

// Unsigned sums have the bits of the signed ones, so that one algorithm serves both types.
void exclusive_sum(DeviceSpan<const std::int32_t> numbers, DeviceSpan<std::int32_t> sums,
                   StreamRef stream) {
  sum_before(reinterpret_cast<const std::uint32_t*>(numbers.data()),
             reinterpret_cast<std::uint32_t*>(sums.data()), numbers.size(), stream);
}
void exclusive_sum(DeviceSpan<const std::uint32_t> numbers, DeviceSpan<std::uint32_t> sums,
                   StreamRef stream) {
  sum_before(numbers.data(), sums.data(), numbers.size(), stream);
}
void exclusive_sum(DeviceSpan<const std::int64_t> numbers, DeviceSpan<std::int64_t> sums,
                   StreamRef stream) {
  sum_before(numbers.data(), sums.data(), numbers.size(), stream);
}

void exclusive_sum_of_triples(DeviceSpan<const std::int32_t> numbers, DeviceSpan<std::int32_t> sums,
                              StreamRef stream) {
  static_assert(sizeof(Triple) == 3 * sizeof(std::int32_t));
  const auto* const from = reinterpret_cast<const Triple*>(numbers.data());
  auto* const to = reinterpret_cast<Triple*>(sums.data());
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(scratch, bytes, from, to, AddTriples{}, Triple{},
                                          static_cast<std::int64_t>(numbers.size() / 3), stream);
  });
}

void inclusive_sum(DeviceSpan<const std::int32_t> numbers, DeviceSpan<std::int32_t> sums,
                   StreamRef stream) {
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, numbers.data(), sums.data(),
                                         static_cast<std::int64_t>(numbers.size()), stream);
  });
}

void write_total(DeviceSpan<const std::int32_t> numbers, std::int64_t* total, StreamRef stream) {
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(scratch, bytes, numbers.data(), total,
                                     static_cast<std::int64_t>(numbers.size()), AddWide{},
                                     std::int64_t{0}, stream);
  });
}

}  // namespace trireme
