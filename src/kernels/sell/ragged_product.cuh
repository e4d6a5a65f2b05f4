// SPDX-License-Identifier: BSD-3-Clause
// What a warp does with one slice of ragged rows (ragged.hpp). Only ragged_cuda.cu includes this file.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/block_sum.cuh"
#include "kernels/multiply_tile.cuh"
#include "kernels/numeric.cuh"
#include "kernels/sell/ragged.hpp"
#include "kernels/sell/slices.cuh"
#include "kernels/sell/widen.cuh"

namespace trireme::sell {
namespace {

constexpr int kBatch = 4;  // steps that are loaded together
// Vectors that are multiplied in one pass over the matrix. Their entries of a row of X are one sector
// of 32 bytes.
constexpr int kStrip = 4;

// The numbers of `width` vectors.
template <int width, class Number>
struct Strip {
  Number of[width] = {};

  __device__ __forceinline__ void add(Number value, const Strip& x) {
#pragma unroll
    for (int v = 0; v < width; ++v) of[v] += value * x.of[v];
  }
  __device__ __forceinline__ Strip& operator+=(const Strip& other) {
#pragma unroll
    for (int v = 0; v < width; ++v) of[v] += other.of[v];
    return *this;
  }
};
template <int width, class Number>
__device__ __forceinline__ Strip<width, Number> shuffle_down(Strip<width, Number> strip,
                                                             int offset) {
#pragma unroll
  for (int v = 0; v < width; ++v) strip.of[v] = __shfl_down_sync(kFullWarp, strip.of[v], offset);
  return strip;
}
template <int width, class Number>
__device__ __forceinline__ Strip<width, Number> strip_sum(Strip<width, Number> strip) {
#pragma unroll
  for (int v = 0; v < width; ++v) strip.of[v] = warp_sum(strip.of[v]);
  return strip;
}

// y = A x, or the same for up to `width` vectors that lie side by side. Where `whole`, there are so many,
// and the rows of X and Y begin at multiples of 16 bytes.
template <int width, bool whole, class Stored, class Vector>
struct RaggedProduct {
  using Sums = Strip<width, Sum<Vector>>;
  std::int32_t slice_count = 0;
  const RaggedSlice* slices = nullptr;
  const CutRow* cut_rows = nullptr;
  const std::int32_t* row_order = nullptr;
  const std::int32_t* base = nullptr;
  const char* columns = nullptr;
  const Stored* values = nullptr;
  const std::int32_t* shares =
      nullptr;                       // the first slice of each block, and slice_count at the end
  Sum<Vector>* parts = nullptr;      // one per part
  std::uint32_t* arrived = nullptr;  // one per cut row, zero between products
  const Vector* x = nullptr;
  Vector* y = nullptr;
  std::int64_t x_stride = 1, y_stride = 1;  // between rows
  int vectors = 1;                          // at most `width`
  bool add = false;
  double* dots = nullptr;  // one per block, then one per cut row

  __device__ __forceinline__ Sums row_of_x(std::int32_t row) const {
    if constexpr (width == 1) return {{load<Sum<Vector>>(x + row)}};
    Sums sums;
    if constexpr (whole) {
      uint4 word[sizeof sums / sizeof(uint4)];
      const auto* words = reinterpret_cast<const uint4*>(x + row * x_stride);
#pragma unroll
      for (int i = 0; i < static_cast<int>(sizeof sums / sizeof(uint4)); ++i)
        word[i] = __ldg(words + i);
      memcpy(&sums, word, sizeof sums);
    } else {
#pragma unroll
      for (int v = 0; v < width; ++v)
        if (v < vectors) sums.of[v] = load<Sum<Vector>>(x + row * x_stride + v);
    }
    return sums;
  }
};

__device__ __forceinline__ RaggedSlice load_slice(const RaggedSlice* slices, std::int32_t i) {
  const int4 words = __ldg(reinterpret_cast<const int4*>(slices + i));
  RaggedSlice slice;
  memcpy(&slice, &words, sizeof slice);
  return slice;
}

// Adds the products of this lane's entries to `sums`.
template <ColumnCode code, int lane_rows, int width, bool whole, class Stored, class Vector>
__device__ __forceinline__ void add_slice(const RaggedProduct<width, whole, Stored, Vector>& p,
                                          const RaggedSlice& slice, int lane,
                                          Strip<width, Sum<Vector>> (&sums)[lane_rows]) {
  using Number = Sum<Vector>;
  using Column = std::conditional_t<code == ColumnCode::offsets, std::uint16_t, std::int32_t>;
  const Stored* values =
      p.values + (static_cast<std::int64_t>(slice.first_step) * kLanes + lane) * lane_rows;
  const char* stored = p.columns + slice.columns * kColumnUnit;
  const Column* columns = reinterpret_cast<const Column*>(stored) + lane * lane_rows;
  const std::int32_t* base = p.base + slice.first_step;
  constexpr int size = kLanes * lane_rows;
  Run run[lane_rows];
  if constexpr (code == ColumnCode::runs)
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const int2 words = __ldg(reinterpret_cast<const int2*>(stored) + slice.row_of(lane, r));
      run[r] = {words.x, words.y};
    }
  const std::int32_t steps = slice.steps();
  for (std::int32_t step = 0; step < steps; step += kBatch) {
    Pack<lane_rows, Stored> value[kBatch];
    Pack<lane_rows, Column> column[kBatch];
    std::int32_t bases[kBatch];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const bool there = step + s < steps;  // the same for the whole warp
      if (there)
        value[s] = load_pack<lane_rows>(values + static_cast<std::int64_t>(step + s) * size);
      if constexpr (code != ColumnCode::runs) {
        if (there) {
          column[s] = load_pack<lane_rows>(columns + static_cast<std::int64_t>(step + s) * size);
        } else {
#pragma unroll
          for (int r = 0; r < lane_rows; ++r) column[s].of_row[r] = static_cast<Column>(-1);
        }
        bases[s] = code == ColumnCode::offsets && there ? __ldg(base + step + s) : 0;
      }
    }
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        if constexpr (code == ColumnCode::runs) {
          const std::int32_t k = slice.entry_of(lane, step + s);
          if (k < run[r].length)
            sums[r].add(widen<Number>(value[s].of_row[r]), p.row_of_x(run[r].first_column + k));
        } else {
          const Column c = column[s].of_row[r];
          if (c != static_cast<Column>(-1))
            sums[r].add(widen<Number>(value[s].of_row[r]), p.row_of_x(bases[s] + c));
        }
      }
  }
}

// Stores the row; returns its term of x . A x, or 0 without dot.
template <bool with_dot, int width, bool whole, class Stored, class Vector>
__device__ __forceinline__ double put(const RaggedProduct<width, whole, Stored, Vector>& p,
                                      std::int32_t row, const Strip<width, Sum<Vector>>& sums) {
#pragma unroll
  for (int v = 0; v < width; ++v)
    if (width == 1 || whole || v < p.vectors)
      store_or_add(p.y + (width == 1 ? row : row * p.y_stride + v), sums.of[v], p.add);
  if constexpr (with_dot) return static_cast<double>(sums.of[0]) * load<Sum<Vector>>(p.x + row);
  return 0;
}

// Lane 0 has the sums of a part. The part that arrives last adds up all parts of the row.
template <bool with_dot, int width, bool whole, class Stored, class Vector>
__device__ __forceinline__ void finish_part(const RaggedProduct<width, whole, Stored, Vector>& p,
                                            const RaggedSlice& slice, std::int32_t number, int lane,
                                            Strip<width, Sum<Vector>> sums) {
  const CutRow cut = p.cut_rows[slice.first_row];
  Sum<Vector>* parts = p.parts + static_cast<std::int64_t>(cut.first_part) * width;
  bool is_last = false;
  if (lane == 0) {
#pragma unroll
    for (int v = 0; v < width; ++v)
      __stcg(parts + (number - cut.first_slice) * width + v, sums.of[v]);
    const auto others = static_cast<std::uint32_t>(cut.parts - 1);
    is_last = tiles::arrive(p.arrived + slice.first_row, others) == others;  // back to 0
    if (is_last) tiles::acquire_arrivals();
  }
  __syncwarp();
  if (!__shfl_sync(kFullWarp, is_last, 0)) return;
  sums = {};  // The parts are read from the L2 cache, where they were stored.
  for (std::int32_t part = lane; part < cut.parts; part += kLanes)
#pragma unroll
    for (int v = 0; v < width; ++v) sums.of[v] += __ldcg(parts + part * width + v);
  sums = strip_sum(sums);
  if (lane != 0) return;
  const double dot = put<with_dot>(p, cut.row, sums);
  if constexpr (with_dot) p.dots[gridDim.x + slice.first_row] = dot;
}

// Returns this lane's share of x . A x over the rows that are not cut.
template <bool with_dot, int lane_rows, int width, bool whole, class Stored, class Vector>
__device__ __forceinline__ double multiply_slice(const RaggedProduct<width, whole, Stored, Vector>& p,
                                                 const RaggedSlice& slice, std::int32_t number,
                                                 int lane) {
  const int lanes = slice.lanes();
  std::int32_t target[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const int row = slice.row_of(lane, r);
    target[r] = row < slice.rows() ? __ldg(p.row_order + slice.first_row + row) : -1;
  }
  Strip<width, Sum<Vector>> sums[lane_rows] = {};
  switch (slice.code()) {
    case ColumnCode::offsets:
      add_slice<ColumnCode::offsets>(p, slice, lane, sums);
      break;
    case ColumnCode::columns:
      add_slice<ColumnCode::columns>(p, slice, lane, sums);
      break;
    case ColumnCode::runs:
      add_slice<ColumnCode::runs>(p, slice, lane, sums);
  }
  if (slice.part()) {
#pragma unroll
    for (int r = 1; r < lane_rows; ++r) sums[0] += sums[r];
    finish_part<with_dot>(p, slice, number, lane, strip_sum(sums[0]));
    return 0;
  }
  for (int offset = lanes / 2; offset > 0; offset /= 2)
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) sums[r] += shuffle_down(sums[r], offset);
  double dot = 0;
  if (lane % lanes == 0)
#pragma unroll
    for (int r = 0; r < lane_rows; ++r)
      if (target[r] >= 0) dot += put<with_dot>(p, target[r], sums[r]);
  return dot;
}

}  // namespace
}  // namespace trireme::sell
