// SPDX-License-Identifier: BSD-3-Clause
// Kernels that count the columns of rows and write them in ascending order (make_rows.cuh).
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "multigrid/cuda/cuda_group.cuh"
#include "multigrid/cuda/row_lists.cuh"
#include "multigrid/set_up/row_group.hpp"

namespace trireme::multigrid::row_kernels {

// Rows of class 0: counts them, or writes their columns where row_ptr is given. The first pass
// finds the class of each row.
template <int kWidth, bool kWrites, class F>
__global__ void __launch_bounds__(kThreads)
    thread_rows(std::int64_t rows, const F f, Limits limits, RowLists lists, std::int32_t* counts,
                const std::int32_t* row_ptr, std::int32_t* col_idx) {
  __shared__ std::int32_t columns[kThreads * kListPlaces];
  const std::int64_t i = group_number<1>();
  if (i >= rows) return;
  if constexpr (kWrites) {
    if (lists.classes[i] != 0) return;
  } else {
    const std::int64_t terms = f.terms(i);
    const int begins = terms <= limits.thread ? 0
                       : terms <= limits.few  ? 1
                       : terms <= limits.more ? 2
                                              : 3;
    for (int l = 1; l < kLists; ++l)
      if (begins == l) lists.add(l - 1, static_cast<std::int32_t>(i));
    if (begins > 0) return;
  }
  SortedColumns<kWidth> set(columns + threadIdx.x, kThreads, kListPlaces);
  f(i, set);
  if constexpr (kWrites) {
    std::int32_t* to = col_idx + row_ptr[i];
    for (std::int32_t k = 0; k < set.size(); ++k)
      for (std::int32_t c = 0; c < kWidth; ++c) *to++ = set[k] * kWidth + c;
  } else if (set.full()) {
    lists.add(0, static_cast<std::int32_t>(i));
  } else {
    lists.classes[i] = 0;
    counts[i] = set.size() * kWidth;
  }
}

// Tables of neighbouring groups begin in different banks.
__host__ __device__ constexpr std::int32_t table_pitch(std::int32_t places) { return places + 8; }

// Rows of list `list` by groups of kLanes, each with a table of kPlaces. A row that does not fit
// while it is counted goes into the next list.
template <int kWidth, int kLanes, int kPlaces, bool kWrites, class F>
__global__ void __launch_bounds__(kThreads)
    listed_rows(int list, RowLists lists, const F f, std::int32_t* counts,
                const std::int32_t* row_ptr, std::int32_t* col_idx) {
  extern __shared__ std::int32_t tables[];
  std::int32_t* const table = tables + threadIdx.x / kLanes * table_pitch(kPlaces);
  const CudaGroup<kLanes> group;
  const std::int32_t size = lists.sizes[list];
  for (std::int64_t at = group_number<kLanes>(); at < size; at += number_of_groups<kLanes>()) {
    const std::int64_t i = lists.rows[list][at];
    if (kWrites && lists.classes[i] != list + 1) continue;
    group.sync();  // The table has been read.
    ColumnSet<kWidth, CudaGroup<kLanes>> set(group, table, kPlaces);
    f(i, set);
    if constexpr (kWrites) {
      std::int32_t* const to = col_idx + row_ptr[i];
      const auto write = [&](std::int32_t column, std::int32_t rank) {
        for (std::int32_t c = 0; c < kWidth; ++c) to[rank * kWidth + c] = column * kWidth + c;
      };
      if constexpr (kPlaces <= kMorePlaces) {
        set.for_ranks(write);
      } else {
        const std::int32_t count = set.sort();
        for (std::int32_t k = group.rank(); k < count; k += kLanes) write(table[k], k);
      }
    } else {
      const bool full = set.full();
      const std::int32_t count = set.size();
      if (group.rank() == 0) {
        if (full)
          lists.add(list + 1, static_cast<std::int32_t>(i));
        else
          counts[i] = count * kWidth;
      }
    }
  }
}

// The columns of one row as bits, for the threads of a block.
template <int kWidth>
struct ColumnBits {
  std::uint32_t* words;
  double ignored[kWidth];

  static constexpr bool kOrdered = false;
  __device__ static constexpr bool by_entries() { return false; }
  __device__ static constexpr bool is_full() { return false; }
  __device__ std::int32_t lane() const { return static_cast<std::int32_t>(threadIdx.x); }
  __device__ std::int32_t lanes() const { return kBitmapThreads; }
  __device__ void next() const {}
  __device__ void insert(std::int32_t column) {
    atomicOr(words + column / 32, 1u << (static_cast<unsigned>(column) % 32));
  }
  __device__ double* at(std::int32_t column) {
    insert(column);
    return ignored;
  }
};

// Rows of the last list by blocks. `bits` has `words` words per block, which are 0 before and
// after.
template <int kWidth, bool kWrites, class F>
__global__ void __launch_bounds__(kBitmapThreads)
    long_rows(RowLists lists, const F f, std::int64_t words, std::uint32_t* bits,
              std::int32_t* counts, const std::int32_t* row_ptr, std::int32_t* col_idx) {
  std::uint32_t* const mine = bits + blockIdx.x * words;
  const std::int64_t per_thread = (words + kBitmapThreads - 1) / kBitmapThreads;
  const std::int64_t first = threadIdx.x * per_thread;
  const std::int64_t end = first + per_thread < words ? first + per_thread : words;
  const std::int32_t size = lists.sizes[kLists - 1];
  for (std::int32_t at = static_cast<std::int32_t>(blockIdx.x); at < size;
       at += static_cast<std::int32_t>(gridDim.x)) {
    const std::int64_t i = lists.rows[kLists - 1][at];
    ColumnBits<kWidth> set{mine, {}};
    f(i, set);
    __syncthreads();
    std::int32_t count = 0;
    for (std::int64_t w = first; w < end; ++w) count += __popc(mine[w]);
    auto [before, total] = block_scan<kBitmapThreads>(count);
    if (!kWrites && threadIdx.x == 0) counts[i] = total * kWidth;
    for (std::int64_t w = first; w < end; ++w) {
      if constexpr (kWrites)
        for (std::uint32_t left = mine[w]; left != 0; left &= left - 1, ++before)
          for (std::int32_t c = 0; c < kWidth; ++c)
            col_idx[row_ptr[i] + before * kWidth + c] =
                static_cast<std::int32_t>(w * 32 + __ffs(static_cast<int>(left)) - 1) * kWidth + c;
      mine[w] = 0;
    }
    __syncthreads();
  }
}

}  // namespace trireme::multigrid::row_kernels
