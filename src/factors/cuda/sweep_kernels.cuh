// SPDX-License-Identifier: BSD-3-Clause
// The kernels of device_sweeps.hpp.
//
// Warps take slices in their order, and each thread waits for the numbers that its entries
// multiply. A warp works on its slices in ascending order, too. A slice needs numbers of earlier
// slices only, so that the first slice that is not done always gets on, if a warp that runs has it
// or will take it:
//
//   one block   all warps run, and slice k belongs to warp k % warps.
//   the grid    a warp that runs takes the next slice by a ticket. Blocks that do not run have no
//               slice, whatever else the GPU does, so that nobody waits for them.
//
// The sum of a row has a fixed order: each lane adds its entries one after the other, then the
// lanes add up as a tree.
#pragma once

#include <cstdint>

#include "factors/cuda/arriving.cuh"
#include "factors/cuda/sweep_layout.hpp"

namespace trireme::factors {
namespace sweep_kernels {

constexpr unsigned kAll = 0xffffffffu;
// Entries of a thread that are read together.
constexpr int kBatch = 4;
constexpr int kWarpsOfGridBlock = 4;
// Numbers between the counters of tickets, which are in different parts of the cache.
constexpr int kCounterDistance = 32;

// Both factors with the right-hand side and the result. Positions of L come before those of U.
template <class Value>
struct Sweeps {
  const Slice* slices;
  std::int32_t slice_count, lower_slices;
  std::int32_t count, lower_count;  // positions
  const std::int32_t* __restrict__ columns;
  const Value* __restrict__ values;
  const std::int32_t* __restrict__ sources;  // of L: rows of r; of U: positions of L
  const std::int32_t* __restrict__ targets;  // of U only: rows of z
  const double* __restrict__ inverses;       // of U only
  const double* right;                       // r
  double* numbers;                           // of each position
  double* result;                            // z
};

// Where numbers wait for those who need them.
struct InGlobalMemory {
  double* numbers;
  __device__ __forceinline__ double look(std::int32_t position) const {
    return look_at(numbers + position);
  }
  __device__ __forceinline__ void put(std::int32_t position, double number) const {
    send(numbers + position, number);
  }
};
// Shared memory begins with the number of position `first`.
struct InSharedMemory {
  std::uint32_t numbers;  // the address in shared memory
  std::int32_t first;
  __device__ __forceinline__ std::uint32_t address_of(std::int32_t position) const {
    return numbers + 8u * static_cast<std::uint32_t>(position - first);
  }
  __device__ __forceinline__ double look(std::int32_t position) const {
    double number;
    asm volatile("ld.volatile.shared.f64 %0, [%1];"
                 : "=d"(number)
                 : "r"(address_of(position))
                 : "memory");
    return number;
  }
  __device__ __forceinline__ void put(std::int32_t position, double number) const {
    asm volatile("st.volatile.shared.f64 [%0], %1;" ::"r"(address_of(position)),
                 "d"(as_sent(number))
                 : "memory");
  }
};

// The slices of a warp of a single block.
struct ByStride {
  std::int64_t at;
  int stride;
  __device__ __forceinline__ std::int64_t next() {
    const std::int64_t slice = at;
    at += stride;
    return slice;
  }
};

// The slices of a warp of the grid. Warp w of each block takes slices w, w + kWarpsOfGridBlock, ...
// with the same warps of other blocks: one counter for all would keep warps waiting. Each block has
// warps for all slices, so that a single block that runs gets through. A counter starts at -1, as
// the memory of the numbers before they arrive. The next ticket is on its way while the warp works.
class ByTickets {
 public:
  explicit __device__ __forceinline__ ByTickets(double* counters)
      : counter_(reinterpret_cast<unsigned*>(counters + warp() * kCounterDistance)) {
    take();
  }
  __device__ __forceinline__ std::int64_t next() {
    const unsigned ticket = __shfl_sync(kAll, taken_, 0) + 1;
    take();
    return std::int64_t{ticket} * kWarpsOfGridBlock + warp();
  }

 private:
  static __device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x / 32); }
  __device__ __forceinline__ void take() {
    if (threadIdx.x % 32 == 0) taken_ = atomicAdd(counter_, 1u);
  }

  unsigned* counter_;
  unsigned taken_ = 0;
};

template <class Value>
struct Batch {
  std::int32_t columns[kBatch];
  Value values[kBatch];
};

template <class Value>
__device__ __forceinline__ Batch<Value> load(const Sweeps<Value>& s, const Slice& slice, int step,
                                             int lane) {
  Batch<Value> batch;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    batch.columns[k] = -1;
    batch.values[k] = 0;
    if (step + k < slice.steps) {
      const std::int64_t at = (std::int64_t{slice.start} + step + k) * 32 + lane;
      batch.columns[k] = s.columns[at];
      batch.values[k] = s.values[at];
    }
  }
  return batch;
}

template <class Value, class Place>
__device__ __forceinline__ double sum_of(const Batch<Value>& batch, const Place& place) {
  double numbers[kBatch];
#pragma unroll
  for (int k = 0; k < kBatch; ++k)
    numbers[k] = batch.columns[k] >= 0 ? place.look(batch.columns[k]) : 0;
  for (;;) {
    bool all = true;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) all = all && has_arrived(numbers[k]);
    if (all) break;
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (!has_arrived(numbers[k])) numbers[k] = place.look(batch.columns[k]);
  }
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) sum += static_cast<double>(batch.values[k]) * numbers[k];
  return sum;
}

// What the thread that writes a row needs beside the entries.
struct Ends {
  double right = 0, inverse = 1;
  std::int32_t target = kPart;
};

// The slices of a call of run().
enum class Part { both, lower, upper };

// The slices that `turns` gives to this warp, before slice `end`. What a slice needs beside the
// numbers of others is read while the warp works on the slices before it. With both parts, the
// sweep of U begins while numbers of L are missing.
template <Part kPartOfRun, class Value, class Place, class Turns>
__device__ __forceinline__ void run(const Sweeps<Value>& s, const Place& place, Turns turns,
                                    std::int32_t end) {
  constexpr bool kIsGrid = kPartOfRun == Part::both;
  const auto is_of_lower = [&](std::int32_t position) {
    return kIsGrid ? position < s.lower_count : kPartOfRun == Part::lower;
  };
  const int lane = static_cast<int>(threadIdx.x % 32);
  const auto slice_at = [&](std::int64_t k) { return k < end ? s.slices[k] : Slice{}; };
  // Negative for threads that write no row.
  const auto position_in = [&](const Slice& slice) {
    const int row = lane >> slice.log_lanes();
    const bool leads = lane == row << slice.log_lanes() && row < slice.rows();
    return leads ? slice.position + row : -1;
  };
  const auto source_of = [&](std::int32_t position) {
    return position >= 0 ? s.sources[position] : kPart;
  };
  const auto ends_of = [&](std::int32_t position, std::int32_t source) {
    Ends ends;
    if (is_of_lower(position)) {
      if (source >= 0) ends.right = s.right[source];
      return ends;
    }
    if (position < 0) return ends;
    if (source >= 0) ends.right = look_at(s.numbers + source);
    ends.inverse = s.inverses[position - s.lower_count];
    ends.target = s.targets[position - s.lower_count];
    return ends;
  };
  std::int64_t k = turns.next();
  Slice slice = slice_at(k);
  std::int64_t next_k = turns.next();
  Slice next = slice_at(next_k);
  std::int32_t position = position_in(slice), source = source_of(position);
  Batch<Value> batch = load(s, slice, 0, lane);
  Ends ends = ends_of(position, source);
  std::int32_t next_position = position_in(next), next_source = source_of(next_position);
  while (k < end) {
    const std::int64_t after_next_k = turns.next();
    const Slice after_next = slice_at(after_next_k);
    double sum = 0;
    int step = 0;
    do {
      step += kBatch;
      const Batch<Value> following =
          step < slice.steps ? load(s, slice, step, lane) : load(s, next, 0, lane);
      sum += sum_of(batch, place);
      batch = following;
    } while (step < slice.steps);
    __syncwarp();
    for (int distance = 1 << slice.log_lanes() >> 1; distance > 0; distance >>= 1)
      sum += __shfl_xor_sync(kAll, sum, distance);
    if (position >= 0) {
      const bool is_lower = is_of_lower(position);
      double right = ends.right;
      if (kIsGrid && !is_lower && source >= 0) right = wait_for(s.numbers + source, right);
      const double number = right * ends.inverse - sum;
      place.put(position, number);
      if (!kIsGrid && is_lower) s.numbers[position] = number;
      if (!is_lower && ends.target >= 0) s.result[ends.target] = number;
    }
    k = next_k;
    next_k = after_next_k;
    slice = next;
    position = next_position;
    source = next_source;
    ends = ends_of(position, source);
    next = after_next;
    next_position = position_in(next);
    next_source = source_of(next_position);
  }
}

// The counters of tickets follow the numbers.
template <class Value>
__global__ void __launch_bounds__(32 * kWarpsOfGridBlock) sweep_on_grid(const Sweeps<Value> s) {
  run<Part::both>(s, InGlobalMemory{s.numbers}, ByTickets(s.numbers + s.count), s.slice_count);
}

// Sets `count` numbers in the shared memory of the block to what they are before they arrive.
__device__ __forceinline__ void empty(double* numbers, std::int32_t count) {
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < count;
       i += static_cast<std::int32_t>(blockDim.x))
    numbers[i] = __longlong_as_double(kMissing);
}

// The numbers of the lower sweep leave shared memory for those of the upper one.
template <class Value>
__global__ void __launch_bounds__(1024) sweep_in_block(const Sweeps<Value> s) {
  extern __shared__ double shared[];
  const auto numbers = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  const int warps = static_cast<int>(blockDim.x / 32), warp = static_cast<int>(threadIdx.x / 32);
  empty(shared, s.lower_count);
  __syncthreads();
  run<Part::lower>(s, InSharedMemory{numbers, 0}, ByStride{warp, warps}, s.lower_slices);
  __syncthreads();
  empty(shared, s.count - s.lower_count);
  __syncthreads();
  run<Part::upper>(s, InSharedMemory{numbers, s.lower_count},
                   ByStride{std::int64_t{s.lower_slices} + warp, warps}, s.slice_count);
}

}  // namespace sweep_kernels
}  // namespace trireme::factors
