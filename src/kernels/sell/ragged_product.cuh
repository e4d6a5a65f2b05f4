// SPDX-License-Identifier: BSD-3-Clause
// What a warp does with one slice of ragged rows (ragged.hpp). Only ragged_cuda.cu includes this
// file.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "kernels/multiply_tile.cuh"
#include "kernels/numeric.cuh"
#include "kernels/sell/ragged_slices.cuh"
#include "kernels/sell/widen.cuh"

namespace trireme::sell {
namespace {

// y = A x.
template <class Stored, class Vector>
struct RaggedProduct {
  RaggedSlices<Stored> a;
  const std::int32_t* shares = nullptr;  // the first slice of each block, and a.count at the end
  Sum<Vector>* parts = nullptr;          // one per part
  std::uint32_t* arrived = nullptr;      // one per cut row, zero between products
  const Vector* x = nullptr;
  const float* diagonal = nullptr;  // null, or see CudaKernel::add_diagonal()
  Vector* y = nullptr;
  bool add = false;
  double* dots = nullptr;  // one per block, then one per cut row
};

// Stores the row; returns its term of x . A x, or 0 without dot.
template <bool with_dot, class Stored, class Vector>
__device__ __forceinline__ double put(const RaggedProduct<Stored, Vector>& p, std::int32_t row,
                                      Sum<Vector> sum) {
  sum = with_diagonal(sum, p.diagonal, p.x, row);
  store_or_add(p.y + row, sum, p.add);
  if constexpr (with_dot) return static_cast<double>(sum) * load<Sum<Vector>>(p.x + row);
  return 0;
}

// Lane 0 has the sum of a part. The part that arrives last adds up all parts of the row.
template <bool with_dot, class Stored, class Vector>
__device__ __forceinline__ void finish_part(const RaggedProduct<Stored, Vector>& p,
                                            const RaggedSlice& slice, std::int32_t number, int lane,
                                            Sum<Vector> sum) {
  const CutRow cut = p.a.cut_rows[slice.first_row];
  Sum<Vector>* parts = p.parts + cut.first_part;
  bool is_last = false;
  if (lane == 0) {
    __stcg(parts + (number - cut.first_slice), sum);
    const auto others = static_cast<std::uint32_t>(cut.parts - 1);
    is_last = tiles::arrive(p.arrived + slice.first_row, others) == others;  // back to 0
    if (is_last) tiles::acquire_arrivals();
  }
  __syncwarp();
  if (!__shfl_sync(kFullWarp, is_last, 0)) return;
  sum = {};  // The parts are read from the L2 cache, where they were stored.
  for (std::int32_t part = lane; part < cut.parts; part += kLanes) sum += __ldcg(parts + part);
  sum = warp_sum(sum);
  if (lane != 0) return;
  const double dot = put<with_dot>(p, cut.row, sum);
  if constexpr (with_dot) p.dots[gridDim.x + slice.first_row] = dot;
}

// Returns this lane's share of x . A x over the rows that are not cut.
template <bool with_dot, int lane_rows, class Stored, class Vector>
__device__ __forceinline__ double multiply_slice(const RaggedProduct<Stored, Vector>& p,
                                                 const RaggedSlice& slice, std::int32_t number,
                                                 int lane) {
  using Number = Sum<Vector>;
  const int lanes = slice.lanes();
  std::int32_t target[lane_rows];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) {
    const int row = slice.row_of(lane, r);
    target[r] = row < slice.rows() ? __ldg(p.a.row_order + slice.first_row + row) : -1;
  }
  Number sums[lane_rows] = {};
  for_entries<lane_rows>(p.a, slice, lane, [&](int r, Stored value, std::int32_t column) {
    sums[r] += widen<Number>(value) * load<Number>(p.x + column);
  });
  if (slice.part()) {
#pragma unroll
    for (int r = 1; r < lane_rows; ++r) sums[0] += sums[r];
    finish_part<with_dot>(p, slice, number, lane, warp_sum(sums[0]));
    return 0;
  }
  for (int offset = lanes / 2; offset > 0; offset /= 2)
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) sums[r] += __shfl_down_sync(kFullWarp, sums[r], offset);
  double dot = 0;
  if (lane % lanes == 0)
#pragma unroll
    for (int r = 0; r < lane_rows; ++r)
      if (target[r] >= 0) dot += put<with_dot>(p, target[r], sums[r]);
  return dot;
}

}  // namespace
}  // namespace trireme::sell
