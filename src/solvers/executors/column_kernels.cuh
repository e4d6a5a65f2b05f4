// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels of a lockstep solve: the passes and steps of a method's algorithm for many
// columns.
//
//   row i of a vector    column 0 | column 1 | ... | column width - 1 | columns that have left
//                        element (i, j) at i * stride + j
//   pass    a thread works on one column and on every n-th row, with the scalars of the column in
//           registers. A warp reads and writes neighbouring elements
//   step    a thread block per column adds up the partial sums of the column and applies the step
//           to its scalars
//
// Sums are deterministic: the order in which the terms of a column are added depends on the number
// of rows and on the width of the block only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/block_sum.cuh"
#include "solvers/executors/column_control.hpp"
#include "solvers/executors/graph_kernels.cuh"
#include "solvers/executors/lockstep_pass.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"

namespace trireme::solvers {

inline constexpr int kStepThreads = 256;

// The scalars that update() may read; all other members are unset.
__device__ __forceinline__ State scalars_of(const ColumnControl& column) {
  State s;
  s.alpha = column.state.alpha;
  s.beta = column.state.beta;
  s.rho = column.state.rho;
  s.unit = column.state.unit;
  s.rescale = column.state.rescale;
  s.plain_part = column.state.plain_part;
  s.other_part = column.state.other_part;
  s.column = column.state.column;
#pragma unroll
  for (int k = 0; k < kMaxScalars; ++k) s.scalar[k] = column.state.scalar[k];
  return s;
}

// The pass of block Jacobi.
template <class Pass>
inline constexpr bool kReadsOtherRows = std::is_same_v<Pass, SolveBlocks>;

template <class Pass>
__device__ __forceinline__ typename Pass::Row load_element(Pass pass, std::int64_t row, int column,
                                                           std::int64_t stride) {
  if constexpr (kReadsOtherRows<Pass>) {
    const std::int64_t first = pass.first_row(row), last = pass.end_row(row);
    const double* const line = pass.inverse + row * pass.size;
    double z = 0;
    for (std::int64_t k = first; k < last; ++k) z += line[k - first] * pass.r[k * stride + column];
    return {z};
  } else {
    return pass_of_row(pass, row).load(row * stride + column);
  }
}

// Runs one pass. Sum k of column c over the rows of block b goes to
// partials[(k * width + c) * gridDim.x + b]. With `backward`, the rows come in descending order, so
// that a pass begins where the one before it has ended and finds some of its elements in L2.
template <class Pass>
__global__ void __launch_bounds__(kPassThreads, 4)
    column_pass_kernel(Pass pass, BlockShape shape, bool backward, const BlockControls* controls,
                       double* partials) {
  // Rows of few bytes, as of FP32 vectors, must be many to hide the latency of the memory.
  constexpr int bytes = sizeof(typename Pass::Row);
  constexpr int rows_in_flight = bytes >= 48 ? 2 : bytes >= 16 || kReadsOtherRows<Pass> ? 4 : 8;
  const int rows_at_once = kPassThreads / shape.width;
  const int place = static_cast<int>(threadIdx.x) / shape.width;
  const int column = static_cast<int>(threadIdx.x) - place * shape.width;
  const ColumnControl& control = controls->columns[column];
  double sums[Pass::sums == 0 ? 1 : Pass::sums] = {};
  if (place < rows_at_once && control.takes_part != 0 && takes_place(pass, control.state)) {
    const State s = scalars_of(control);
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * rows_at_once;
    const auto row_at = [&](std::int64_t i) { return backward ? shape.rows - 1 - i : i; };
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * rows_at_once + place;
         i < shape.rows; i += rows_in_flight * step) {
      typename Pass::Row row[rows_in_flight];
#pragma unroll
      for (int k = 0; k < rows_in_flight; ++k)
        if (i + k * step < shape.rows)
          row[k] = load_element(pass, row_at(i + k * step), column, shape.stride);
#pragma unroll
      for (int k = 0; k < rows_in_flight; ++k)
        if (i + k * step < shape.rows) {
          pass.update(row[k], s, sums);
          pass.store(row_at(i + k * step) * shape.stride + column, row[k]);
        }
    }
  }
  if constexpr (Pass::sums > 0) {
    __shared__ double shared[kPassThreads];
    int widest = kPassThreads / 2;
    while (widest >= rows_at_once) widest /= 2;
#pragma unroll
    for (int k = 0; k < Pass::sums; ++k) {
      __syncthreads();  // the sums before this one have been read
      shared[threadIdx.x] = sums[k];
      __syncthreads();
      for (int half = widest; half > 0; half /= 2) {
        if (place < half && place + half < rows_at_once)
          shared[threadIdx.x] += shared[threadIdx.x + half * shape.width];
        __syncthreads();
      }
      if (place == 0)
        partials[(static_cast<std::int64_t>(k) * shape.width + column) * gridDim.x + blockIdx.x] =
            shared[threadIdx.x];
    }
  }
}

// Adds up all pending sums of the column blockIdx.x. Called by one whole block per column;
// totals[k] is written by thread 0.
__device__ __forceinline__ void total_of_column(const PendingSums& pending, double* totals) {
  const int column = static_cast<int>(blockIdx.x);
  int k = 0;
  for (int item = 0; item < pending.count; ++item) {
    const PendingSums::Item& from = pending.items[item];
    for (int sum = 0; sum < from.sums; ++sum) {
      const double* const partials =
          from.partials + (static_cast<std::int64_t>(sum) * gridDim.x + column) *
                              static_cast<std::int64_t>(from.count);
      double value = 0;
      for (int b = static_cast<int>(threadIdx.x); b < from.count; b += kStepThreads)
        value += partials[b];
      value = block_sum<kStepThreads>(value);
      if (threadIdx.x == 0) totals[k] = value;
      ++k;
    }
  }
}

// Applies a step to a column, if the column takes part. Called by one thread.
template <class Step>
__device__ __forceinline__ void apply_to_column(BlockControls* controls, int column,
                                                const Step& step, const double* totals,
                                                bool stop_asked) {
  ColumnControl& own = controls->columns[column];
  LogEntry entry;
  if (own.takes_part != 0) {
    State s = own.state;
    if (apply(s, step, totals, stop_asked)) entry = {s.norm, s.iterations};
    own.state = s;
  }
  if constexpr (Step::ends_iteration) controls->log[own.logged++ % kLogSlots][column] = entry;
}

// Applies a step to each column. Launched with one block per column. stop[c] is 1 where the host
// wishes that column c ends.
template <class Step>
__global__ void __launch_bounds__(kStepThreads)
    column_step_kernel(PendingSums pending, BlockControls* controls, const std::int32_t* stop,
                       Step step) {
  __shared__ double totals[kMaxSums * kMaxPending];
  total_of_column(pending, totals);
  const auto column = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) apply_to_column(controls, column, step, totals, stop[column] != 0);
}

// The first of three parts that replace column_step_kernel() on several processes: writes sum k of
// column c to totals[c * (count + 1) + k], where `count` is the number of pending sums, and behind
// the sums of a column the wish that it ends (0 or 1). The system's sum() over the processes is the
// second part, and column_apply_kernel() the third.
__global__ void __launch_bounds__(kStepThreads)
    column_collect_kernel(PendingSums pending, const std::int32_t* stop, double* all);

// Applies a step to each column. Launched with one thread per column.
template <class Step>
__global__ void column_apply_kernel(const double* all, int count, BlockControls* controls,
                                    Step step) {
  const auto column = static_cast<int>(threadIdx.x);
  const double* const totals = all + column * (count + 1);
  apply_to_column(controls, column, step, totals, totals[count] > 0);
}

// y += defect x for the columns that take part; `defect` has one number per row.
__global__ void __launch_bounds__(kPassThreads)
    column_compensate_kernel(const float* defect, const double* x, double* y, BlockShape shape,
                             const BlockControls* controls);

}  // namespace trireme::solvers
