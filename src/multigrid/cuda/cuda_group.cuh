// SPDX-License-Identifier: BSD-3-Clause
// Lanes of a warp as the groups of row_group.hpp and one_thread.hpp.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

namespace trireme::multigrid {

namespace row_kernels {

template <int kLanes>
class CudaGroup {
 public:
  __device__ CudaGroup()
      : tile_(
            cooperative_groups::tiled_partition<kLanes>(cooperative_groups::this_thread_block())) {}
  __device__ std::int32_t rank() const { return static_cast<std::int32_t>(tile_.thread_rank()); }
  __device__ static constexpr std::int32_t size() { return kLanes; }
  __device__ void sync() const { tile_.sync(); }
  __device__ std::int32_t sum(std::int32_t value) const { return by_halves(value); }
  __device__ double maximum(double value) const {
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
      value = fmax(value, tile_.shfl_xor(value, distance));
    return value;
  }
  template <class Term>
  __device__ double total(std::int64_t n, const Term& term) const {
    double value = 0;
    for (std::int64_t t = rank(); t < n; t += kLanes) value += term(t);
    return by_halves(value);
  }
  __device__ bool any(bool value) const { return tile_.any(value); }
  __device__ std::uint32_t ballot(bool value) const { return tile_.ballot(value); }
  template <class Value>
  __device__ Value from(Value value, std::int32_t lane) const {
    return tile_.shfl(value, lane);
  }
  __device__ std::int32_t compare_and_swap(std::int32_t* at, std::int32_t expected,
                                           std::int32_t desired) const {
    return atomicCAS(at, expected, desired);
  }

 private:
  template <class Value>
  __device__ Value by_halves(Value value) const {
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
      value += tile_.shfl_xor(value, distance);
    return value;
  }

  cooperative_groups::thread_block_tile<kLanes> tile_;
};

// Lets a place run a functor for groups: by_lanes<kLanes>(f) takes the numbers of n * kLanes lanes.
template <int kLanes, class F>
struct ByLanes {
  F f;
  __device__ auto operator()(std::int64_t at) const { return f(at / kLanes, CudaGroup<kLanes>()); }
};

}  // namespace row_kernels

template <int kLanes, class F>
row_kernels::ByLanes<kLanes, F> by_lanes(const F& f) {
  return {f};
}

}  // namespace trireme::multigrid
