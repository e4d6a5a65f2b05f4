// SPDX-License-Identifier: BSD-3-Clause
// The product of one tile of a CSR by one thread block: ALBUS's load balance on CUDA (Bian et al.
// 2021, section 3.1: every worker has the same number of nonzeros, rows are cut where a share
// ends). tiled_csr.cuh shows the cut.
//
// 1. The block writes the products of the tile to shared memory: columns and values are loaded with
//    unit stride, and all gathers of x are in flight at once.
// 2. A group of lanes adds up each row that starts in the tile; a whole warp adds up a long row.
// 3. The partial sums of a cut row go to global memory. The tile that finishes last adds them up,
//    first part first, and stores the row. Which tile finishes last changes from run to run; the
//    order of the additions does not, so that the result has the same bits every time.
//
// Bytes moved (double): 12 per nonzero and 12 per row.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "kernels/numeric.cuh"
#include "kernels/tiled_csr.cuh"

namespace trireme::tiles {

inline constexpr int kLongPerLane = 16;  // a warp adds up longer rows
inline constexpr int kRowsPerThread = 4;
inline constexpr int kRowsInMemory = kThreads * kRowsPerThread - 1;

template <class Number>
struct TileMemory {
  Number products[kTile + kTile / 16];
  std::int32_t row_ptr[kRowsInMemory + 1];
  // The long rows, each at the sixteenth of the tile where it starts. Long rows have more than 16
  // entries in the tile, so that no two of them start in the same sixteenth.
  std::int32_t long_rows[kTile / kLongPerLane];
};

// Adds one number of padding per 16, so that rows of 16 do not all start in the same bank.
__device__ __forceinline__ int padded(int i) { return i + (i >> 4); }

// Stores finished rows in y, and computes their terms of x . A x.
template <class Vector, bool with_dot>
struct RowSink {
  const Vector* x;        // at the rows of the matrix; null without dot and without `diagonal`
  const float* diagonal;  // null, or see CudaKernel::add_diagonal()
  Vector* y;
  const std::int32_t* row_map;
  bool add;
  double* cut_dots;  // with_dot: one per tile, for the row that is cut at the end of the tile

  // Stores the row; returns its term of x . A x, or 0 without dot.
  template <class Number>
  __device__ __forceinline__ double finish(std::int32_t row, Number sum) const {
    const std::int32_t to = row_map ? row_map[row] : row;
    sum = with_diagonal(sum, diagonal, x, to);
    store_or_add(y + to, sum, add);
    if constexpr (with_dot) return static_cast<double>(sum) * load<Sum<Vector>>(x + to);
    return 0;
  }
};

// Increments the counter, or resets it to 0 where it is `last`; returns the value before. A thread
// that reads the counter and then calls acquire_arrivals() sees all stores that this thread made
// before. __threadfence() would also evict x from the L1 cache.
__device__ __forceinline__ std::uint32_t arrive(std::uint32_t* counter, std::uint32_t last) {
  std::uint32_t before;
  asm volatile("atom.release.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(last)
               : "memory");
  return before;
}

// The acquire that belongs to arrive(). The thread that read the last count calls it before the
// next __syncwarp() of its warp.
__device__ __forceinline__ void acquire_arrivals() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// Called by one warp for a row that tile `tile` shares with other tiles. Lane 0 has `part`, the
// partial sum of this tile.
template <class Value, class Number, class Sink>
__device__ void finish_cut_row(const TiledCsr<Value>& a, std::int32_t tile, std::int32_t row,
                               bool is_head, Number part, const Sink& sink) {
  const int lane = threadIdx.x % 32;
  const std::int32_t first = a.row_ptr[row] / kTile;
  const std::int32_t last = (a.row_ptr[row + 1] - 1) / kTile;
  Number* parts = static_cast<Number*>(a.parts);
  bool is_last = false;
  if (lane == 0) {
    __stcg(parts + 2 * tile + (is_head ? 0 : 1), part);
    const auto others = static_cast<std::uint32_t>(last - first);
    is_last = arrive(a.arrived + first, others) == others;  // back to 0 for the next product
    if (is_last) acquire_arrivals();
  }
  __syncwarp();
  if (!__shfl_sync(kFullWarp, is_last, 0)) return;
  Number sum{};  // The parts are read from the L2 cache, where they were stored.
  for (std::int32_t t = first + lane; t <= last; t += 32)
    sum += __ldcg(parts + 2 * t + (t == first ? 1 : 0));
  sum = warp_sum(sum);
  if (lane == 0) {
    const double dot = sink.finish(row, sum);
    if (sink.cut_dots) sink.cut_dots[first] = dot;
  }
}

// Multiplies the rows of one tile; all kThreads threads of the block call it. Returns this thread's
// share of x . A x over the rows that are not cut.
template <class Value, class Vector, bool with_dot>
__device__ double multiply_tile(const TiledCsr<Value>& a, std::int32_t tile,
                                const Vector* __restrict__ x, const RowSink<Vector, with_dot>& sink,
                                TileMemory<Sum<Vector>>& memory) {
  using Number = Sum<Vector>;
  const std::int32_t begin = tile * kTile;
  const std::int32_t size = min(kTile, a.nnz - begin);
  const std::int32_t row_begin = a.first_row[tile];
  const std::int32_t row_end = a.first_row[tile + 1];
  double dot = 0;

  // All loads of the tile are issued before the first is used; those that need row_begin come last.
  std::int32_t columns[kPerThread];
  Number values[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int i = k * kThreads + threadIdx.x;
    columns[k] = i < size ? __ldcs(a.col_idx + begin + i) : -1;
  }
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const int i = k * kThreads + threadIdx.x;
    values[k] = i < size ? load_once<Number>(a.values + begin + i) : Number{};
  }
  for (int i = threadIdx.x; i < kTile / kLongPerLane; i += kThreads) memory.long_rows[i] = -1;
  const std::int32_t row_count = row_end - row_begin;
  const bool rows_in_memory = row_count <= kRowsInMemory;
  std::int32_t starts[kRowsPerThread];
#pragma unroll
  for (int k = 0; k < kRowsPerThread; ++k) {
    const int i = k * kThreads + threadIdx.x;
    starts[k] = rows_in_memory && i <= row_count ? a.row_ptr[row_begin + i] : 0;
  }
#pragma unroll
  for (int k = 0; k < kPerThread; ++k)
    if (columns[k] >= 0)
      memory.products[padded(k * kThreads + threadIdx.x)] =
          values[k] * load<Number>(x + columns[k]);
#pragma unroll
  for (int k = 0; k < kRowsPerThread; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (rows_in_memory && i <= row_count) memory.row_ptr[i] = starts[k];
  }
  __syncthreads();
  // From here on row_ptr is indexed by the row of the matrix.
  const std::int32_t* row_ptr = rows_in_memory ? memory.row_ptr - row_begin : a.row_ptr;

  // The number of lanes per row is as large as the number of rows allows. All lanes of a warp do
  // the same number of rounds, because they shuffle.
  int width = 1;
  while (width < 32 && 2 * width * row_count <= kThreads) width *= 2;
  const int lane_in_row = threadIdx.x % width;
  for (std::int32_t base = 0; base < row_count; base += kThreads / width) {
    const std::int32_t row = row_begin + base + threadIdx.x / width;
    Number sum{};
    bool whole = false;
    if (row < row_begin + row_count) {
      const std::int32_t from = row_ptr[row] - begin;
      const std::int32_t to = row_ptr[row + 1] - begin;
      whole = to <= size && to - from <= kLongPerLane * width;
      if (whole) {
        for (std::int32_t k = from + lane_in_row; k < to; k += width)
          sum += memory.products[padded(k)];
      } else if (lane_in_row == 0) {
        memory.long_rows[from / kLongPerLane] = row;
      }
    }
    for (int offset = width / 2; offset > 0; offset /= 2)
      sum += __shfl_down_sync(kFullWarp, sum, offset, width);
    if (whole && lane_in_row == 0) dot += sink.finish(row, sum);
  }
  __syncthreads();

  // One warp sums the head; the warps share the long rows and the tail, in their order.
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const auto sum_products = [&](std::int32_t from, std::int32_t end) {
    Number sum{};
    for (std::int32_t k = from + lane; k < end; k += 32) sum += memory.products[padded(k)];
    return warp_sum(sum);
  };
  const std::int32_t head_end = min(row_ptr[row_begin] - begin, size);
  if (warp == kThreads / 32 - 1 && head_end > 0)
    finish_cut_row(a, tile, row_begin - 1, true, sum_products(0, head_end), sink);
  int turn = 0;
  for (int group = 0; group < kTile / kLongPerLane; group += 32) {
    const std::int32_t mine = memory.long_rows[group + lane];
    for (unsigned left = __ballot_sync(kFullWarp, mine >= 0); left != 0; left &= left - 1) {
      if (turn++ % (kThreads / 32) != warp) continue;
      const std::int32_t row = __shfl_sync(kFullWarp, mine, __ffs(left) - 1);
      const std::int32_t to = row_ptr[row + 1] - begin;
      const Number sum = sum_products(row_ptr[row] - begin, min(to, size));
      if (to > size)
        finish_cut_row(a, tile, row, false, sum, sink);
      else if (lane == 0)
        dot += sink.finish(row, sum);
    }
  }
  if constexpr (with_dot) {
    const bool tail_is_cut = row_count > 0 && row_ptr[row_begin + row_count] - begin > size;
    if (threadIdx.x == 0 && !tail_is_cut) sink.cut_dots[tile] = 0;
  }
  return dot;
}

}  // namespace trireme::tiles
