// SPDX-License-Identifier: BSD-3-Clause
// Y = A X on the TEB layout: one launch per strip of 8, 16 or 32 vectors (kernels/strip.cuh). One
// thread block takes one block of nonzeros.
//
//   Phase 1  The threads copy the values and columns of the block to shared memory, with unit
//            stride. The products are not kept there as those of one vector are: they would need 8
//            to 32 times the memory.
//   Phase 2  Four lanes, or a multiple of them, sum each row in all vectors. One warp, or all
//            warps, sum a long first row. A row has as many lanes as for one vector.
//
// Chunks of a row that is longer than the threshold go to one thread block each, as for one vector.
//
// Bytes moved (FP64, N vectors in strips): 12 per nonzero and 16 per row for each strip, 16 N per
// row for X and Y. The result is deterministic: the tree of each sum is fixed.
#include "kernels/teb/strips.cuh"

#include "kernels/numeric.cuh"
#include "kernels/strip.cuh"

namespace trireme::teb {
namespace {

using Index = std::int32_t;

constexpr int kSlots = kThreads * kNonzerosPerThread;
constexpr int kWarps = kThreads / 32;
static_assert(kMaxNonzeros + 31 == kSlots);

// The nonzeros and the caller's number of a row; -1 where there is no row.
struct RowPlace {
  Index begin = 0, end = 0, row = -1;
};

template <class Stored>
struct Matrix {
  const Stored* __restrict__ values;
  const Index* __restrict__ col_idx;
  const Index* __restrict__ rownnz_sum;
  const Index* __restrict__ row_order;  // null where position and row are the same
  const Chunk* __restrict__ chunks;
  const BlockHead* __restrict__ heads;  // of the blocks that are not long rows
  int chunk_count;

  __device__ __forceinline__ Index row_at(Index position) const {
    return row_order ? row_order[position] : position;
  }
  __device__ __forceinline__ RowPlace row(Index position, Index end_position) const {
    if (position >= end_position) return {};
    return {rownnz_sum[position], rownnz_sum[position + 1], row_at(position)};
  }
};

// The place of a thread in its group of lanes, and that of the group in the thread block.
template <class Strip>
struct Place {
  static constexpr int kGroups = kThreads / Strip::kLanes;
  int member = threadIdx.x % Strip::kLanes;
  int group = threadIdx.x / Strip::kLanes;
};

// Adds the entries first, first + stride, .. before `end`. entry(k, value, column) gives entry k.
template <class Stored, class Strip, class EntryOf>
__device__ __forceinline__ void add_entries(const Strip& strip, Index first, Index end,
                                            Index stride, int member, typename Strip::Sums& sums,
                                            EntryOf&& entry) {
  using Number = typename Strip::Number;
  constexpr int at_once = 4;  // entries whose rows of X are loaded together
  const char* x = strip.lane_of_x(member);
  const auto add = [&](Index k, auto whole) __attribute__((always_inline)) {
    Stored value[at_once];
    typename Strip::Entries rows[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const bool exists = whole || k + i * stride < end;
      Index column = 0;
      value[i] = Stored(0);
      if (exists) entry(k + i * stride, value[i], column);
      strip.gather(strip.row_of_x(x, column), member, rows[i], exists);
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i)
#pragma unroll
      for (int j = 0; j < Strip::kEach; ++j)
        sums[j] += static_cast<Number>(value[i]) * static_cast<Number>(rows[i][j]);
  };
  Index k = first;
#pragma unroll 1
  for (; k + (at_once - 1) * stride < end; k += at_once * stride) add(k, std::true_type{});
  if (at_once > 1 && k < end) add(k, std::false_type{});
}

// Adds the sums of all groups of the thread block; the first group gets the result. Every thread
// calls it.
template <class Strip>
__device__ __forceinline__ void add_over_block(typename Strip::Sums& sums) {
  __shared__ typename Strip::Number of_warp[kWarps][Strip::kWidth];
  const Place<Strip> place;
  add_over_groups<Strip>(sums);
  __syncthreads();  // Threads may still read of_warp in an earlier call.
  if (threadIdx.x % 32 < Strip::kLanes)
#pragma unroll
    for (int j = 0; j < Strip::kEach; ++j)
      of_warp[threadIdx.x / 32][j * Strip::kLanes + place.member] = sums[j];
  __syncthreads();
  if (place.group == 0)
#pragma unroll
    for (int j = 0; j < Strip::kEach; ++j) {
      sums[j] = 0;
      for (int warp = 0; warp < kWarps; ++warp)
        sums[j] += of_warp[warp][j * Strip::kLanes + place.member];
    }
}

template <class Stored, class Strip>
__device__ void multiply_chunk(const Matrix<Stored>& a, const Strip& strip, int number,
                               const StripScratch<typename Strip::Vector>& scratch) {
  const Place<Strip> place;
  const Chunk chunk = a.chunks[number];
  typename Strip::Sums sums = {};
  add_entries<Stored>(strip, chunk.begin + place.group, chunk.end, place.kGroups, place.member,
                      sums, [&](Index k, Stored& value, Index& column) {
                        value = __ldcs(a.values + k);
                        column = __ldcs(a.col_idx + k);
                      });
  add_over_block<Strip>(sums);
  if (chunk.chunks > 1) {
    __shared__ bool is_last;
    if (place.group == 0) {
      auto* mine = scratch.sums + static_cast<std::int64_t>(number) * Strip::kWidth;
#pragma unroll
      for (int j = 0; j < Strip::kEach; ++j) mine[j * Strip::kLanes + place.member] = sums[j];
      __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0)
      is_last =
          atomicAdd(scratch.done + chunk.position, 1u) + 1 == static_cast<unsigned>(chunk.chunks);
    __syncthreads();
    if (!is_last) return;
    __threadfence();
#pragma unroll
    for (auto& sum : sums) sum = 0;
    for (Index k = place.group; k < chunk.chunks; k += place.kGroups) {
      const auto* part =
          scratch.sums + static_cast<std::int64_t>(chunk.first_chunk + k) * Strip::kWidth;
#pragma unroll
      for (int j = 0; j < Strip::kEach; ++j)
        sums[j] += __ldcg(part + j * Strip::kLanes + place.member);
    }
    add_over_block<Strip>(sums);
    if (threadIdx.x == 0) scratch.done[chunk.position] = 0;
  }
  strip.put(place.group == 0 ? a.row_at(chunk.position) : -1, place.member, sums);
}

template <class Stored, class Strip>
__device__ __forceinline__ void multiply_block(const Matrix<Stored>& a, const Strip& strip,
                                               const BlockHead& head, const BlockHead& next) {
  __shared__ Stored values[kSlots];
  __shared__ Index columns[kSlots];
  const Index base = head.first_nonzero & ~31;  // where a cache line begins
  {
    Stored value[kNonzerosPerThread];
    Index column[kNonzerosPerThread];
#pragma unroll
    for (int i = 0; i < kNonzerosPerThread; ++i) {
      const Index entry = base + i * kThreads + static_cast<Index>(threadIdx.x);
      const bool inside = entry >= head.first_nonzero && entry < next.first_nonzero;
      column[i] = inside ? __ldcs(a.col_idx + entry) : 0;
      value[i] = inside ? __ldcs(a.values + entry) : Stored(0);
    }
#pragma unroll
    for (int i = 0; i < kNonzerosPerThread; ++i) {
      values[i * kThreads + threadIdx.x] = value[i];
      columns[i * kThreads + threadIdx.x] = column[i];
    }
  }
  __syncthreads();
  const Place<Strip> place;
  const auto from_memory = [&](Index k, Stored& value, Index& column) {
    value = values[k - base];
    column = columns[k - base];
  };
  const bool front_apart = head.front_length > kLongFront;
  const int workers = threads_beside_front(head.front_length);
  if (front_apart) {
    const bool one_warp = workers < kThreads;
    if (!one_warp || threadIdx.x < 32) {
      const int groups = one_warp ? 32 / Strip::kLanes : place.kGroups;
      typename Strip::Sums sums = {};
      add_entries<Stored>(strip, head.first_nonzero + place.group,
                          head.first_nonzero + head.front_length, groups, place.member, sums,
                          from_memory);
      if (one_warp)
        add_over_groups<Strip>(sums);
      else
        add_over_block<Strip>(sums);
      strip.put(place.group == 0 ? a.row_at(head.first_row) : -1, place.member, sums);
      if (one_warp) return;
    }
  }
  // The other rows: `groups` groups per row, all within a warp.
  const int groups = max(head.lanes / Strip::kLanes, 1);
  const int group = place.group - (kThreads - workers) / Strip::kLanes;
  const int rows_at_once = workers / Strip::kLanes / groups;
  Index position = head.first_row + front_apart + group / groups;
  RowPlace row = a.row(position, next.first_row);
  for (Index first = head.first_row + front_apart; first < next.first_row; first += rows_at_once) {
    position += rows_at_once;
    const RowPlace following = a.row(position, next.first_row);
    typename Strip::Sums sums = {};
    add_entries<Stored>(strip, row.begin + group % groups, row.end, groups, place.member, sums,
                        from_memory);
    add_over_groups<Strip>(sums, groups);
    strip.put(group % groups == 0 ? row.row : -1, place.member, sums);
    row = following;
  }
}

// The items are first the chunks, then the blocks.
template <class Stored, class Strip>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    multiply_strip(Matrix<Stored> a, Strip strip, StripScratch<typename Strip::Vector> scratch) {
  const auto item = static_cast<int>(blockIdx.x);
  if (item < a.chunk_count) return multiply_chunk(a, strip, item, scratch);
  const BlockHead head = a.heads[item - a.chunk_count], next = a.heads[item - a.chunk_count + 1];
  multiply_block(a, strip, head, next);
}

}  // namespace

template <class Stored, class Vector>
void multiply_strips(const DeviceLayout<Stored>& layout, StripScratch<Vector> scratch,
                     DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y,
                     Accumulate accumulate, const float* diagonal, StreamRef stream) {
  const std::int64_t long_rows = layout.order.plan.long_rows;
  const auto chunks = static_cast<int>(layout.chunks.size());
  const std::int64_t items = chunks + layout.order.blocks - long_rows;
  if (items == 0) return;
  const Matrix<Stored> matrix{layout.values.data(),
                              layout.col_idx.data(),
                              layout.order.rownnz_sum.data(),
                              layout.order.row_order.data(),
                              layout.chunks.data(),
                              layout.heads.data() + long_rows,
                              chunks};
  for_each_strip(x, y, accumulate, diagonal, [&]<class Strip>(const Strip& strip) {
    multiply_strip<<<static_cast<unsigned>(items), kThreads, 0, stream>>>(matrix, strip, scratch);
    check_launch();
  });
}

template void multiply_strips(const DeviceLayout<double>&, StripScratch<double>,
                              DeviceMultiVector<const double>, DeviceMultiVector<double>,
                              Accumulate, const float*, StreamRef);
template void multiply_strips(const DeviceLayout<float>&, StripScratch<double>,
                              DeviceMultiVector<const double>, DeviceMultiVector<double>,
                              Accumulate, const float*, StreamRef);
template void multiply_strips(const DeviceLayout<float>&, StripScratch<float>,
                              DeviceMultiVector<const float>, DeviceMultiVector<float>, Accumulate,
                              const float*, StreamRef);

}  // namespace trireme::teb
