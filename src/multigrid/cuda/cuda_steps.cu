// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels of the steps of a cycle. Every number of a vector is written by one thread,
// whose order of additions depends on the layout only, so that every run gives the same bits.
#include "multigrid/cuda/cuda_steps.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "device/overlap.cuh"
#include "multigrid/cuda/cuda_rows.cuh"
#include "multigrid/cuda/cycle_scale.cuh"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 256;
constexpr int kWarpsPerBlock = kThreads / kWarp;
// Blocks that a multiprocessor must hold at the same time, which bounds the registers.
template <class Number>
constexpr int kBlocksAtOnce = sizeof(Number) == 4 ? 3 : 2;
constexpr int kExponentBlocks = 264;

// The power of two by which FP32 vectors differ from those of the caller, and whether the cycle is
// to be done. FP64 vectors have none.
struct Circumstances {
  CycleExponent* exponent = nullptr;
  const double* norm = nullptr;  // null: the exponent was searched for
  const std::int32_t* not_needed = nullptr;

  // The word was written before the first step of the cycle began, and is not in the L1 cache.
  __device__ __forceinline__ bool idle() const { return not_needed && __ldcg(not_needed) != 0; }
  __device__ __forceinline__ int found() const {
    if (norm) return __double2hiint(__ldcg(norm)) >> 20 & 0x7ff;
    return exponent ? exponent->found : 0;
  }
  // By which the result is multiplied.
  __device__ __forceinline__ double of_z() const {
    return exponent ? scale_of_z(exponent->used) : 1;
  }
};

// Row i of x = A^-1 b by a whole warp.
template <class Number>
__device__ __forceinline__ void solve_row(const StepDataOf<Number>& s, std::int64_t i) {
  Number sum = 0;
  for (std::int64_t j = threadIdx.x % kWarp; j < s.rows; j += kWarp)
    sum += s.w[i * s.rows + j] * s.b[j];
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(kFullWarp, sum, offset);
  if (threadIdx.x % kWarp == 0) s.to[i] = sum;
}

__global__ void __launch_bounds__(kThreads)
    exponent_kernel(const double* r, std::int64_t rows, CycleExponent* exponent) {
  wait_for_predecessor();
  int largest = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
#pragma unroll 4
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < rows;
       i += stride)
    largest = max(largest, __double2hiint(r[i]) >> 20 & 0x7ff);
  largest = __reduce_max_sync(kFullWarp, largest);
  if (threadIdx.x % kWarp == 0 && largest > 0) atomicMax(&exponent->found, largest);
}

template <StepKind kind, class Value, class Column, class Number>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce<Number>)
    multiply_kernel(const __grid_constant__ StepDataOf<Number> s,
                    const __grid_constant__ RowsView a, Circumstances now) {
  const std::int32_t chunk = static_cast<std::int32_t>(blockIdx.x) * kWarpsPerBlock +
                             static_cast<std::int32_t>(threadIdx.x) / kWarp;
  const auto wait = [] { wait_for_predecessor(); };
  if (chunk >= a.chunks || now.idle()) return wait();
  multiply_chunk<kind, Value, Column>(a, s, chunk, wait, [&] { return now.of_z(); });
  if (now.exponent && blockIdx.x == 0 && threadIdx.x == 0) now.exponent->found = 0;
}

template <class Number>
__global__ void __launch_bounds__(kThreads)
    rows_kernel(const __grid_constant__ StepDataOf<Number> s, Circumstances now) {
  wait_for_predecessor();
  if (now.idle()) return;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (s.kind == StepKind::take) {
    const int exponent = now.found();
    if (now.exponent && i == 0) now.exponent->used = exponent;
    if (i < s.rows) take_row(s, i, scale_of_r(exponent));
  } else if (s.kind == StepKind::give) {
    const double scale = now.of_z();
    if (now.exponent && i == 0) now.exponent->found = 0;
    if (i < s.rows) s.z[i] = s.x[i] * scale;
  } else if (i < s.rows) {
    run_smoother_row(s, i);
  }
}

template <class Number>
__global__ void __launch_bounds__(kThreads)
    solve_kernel(const __grid_constant__ StepDataOf<Number> s, Circumstances now) {
  wait_for_predecessor();
  const std::int64_t i =
      static_cast<std::int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarp;
  if (i < s.rows && !now.idle()) solve_row(s, i);
}

unsigned blocks_for(std::int64_t units, int per_block) {
  return static_cast<unsigned>((units + per_block - 1) / per_block);
}

// Calls visit.operator()<kind>() for the kinds with a sparse matrix.
template <class Visit>
void visit_kind(StepKind kind, const Visit& visit) {
  switch (kind) {
    case StepKind::product:
      return visit.template operator()<StepKind::product>();
    case StepKind::correct:
      return visit.template operator()<StepKind::correct>();
    case StepKind::residual:
      return visit.template operator()<StepKind::residual>();
    case StepKind::smooth:
      return visit.template operator()<StepKind::smooth>();
    default:
      return;
  }
}

template <class Number>
struct LaunchMultiply {
  const StepDataOf<Number>& s;
  const RowsView& a;
  const Circumstances& now;
  bool overlap;
  StreamRef stream;

  template <StepKind kind>
  void operator()() const {
    if constexpr (sizeof(Number) == sizeof(double)) {
      if (a.stored == StoredValues::full) return with_values<kind, double>();
    } else if constexpr (kind != StepKind::correct) {
      if (a.stored == StoredValues::half) return with_columns<kind, std::uint16_t, std::uint16_t>();
    }
    with_values<kind, float>();
  }
  template <StepKind kind, class Value>
  void with_values() const {
    if (a.narrow) return with_columns<kind, Value, std::uint16_t>();
    with_columns<kind, Value, std::int32_t>();
  }
  template <StepKind kind, class Value, class Column>
  void with_columns() const {
    launch_overlapping(blocks_for(a.chunks, kWarpsPerBlock), kThreads, overlap, stream,
                       multiply_kernel<kind, Value, Column, Number>, s, a, now);
  }
};

}  // namespace

bool steps_may_overlap() { return waits_for_predecessor(exponent_kernel); }

void launch_find_exponent(const double* r, std::int64_t rows, CycleExponent* exponent,
                          StreamRef stream) {
  if (rows == 0) return;
  const unsigned blocks = std::min<unsigned>(kExponentBlocks, blocks_for(rows, kThreads));
  launch_overlapping(blocks, kThreads, false, stream, exponent_kernel, r, rows, exponent);
}

template <class Number>
void launch_step(BoundStepOf<Number> step, const CallersVectors& callers, CycleExponent* exponent,
                 bool overlap, StreamRef stream) {
  StepDataOf<Number>& s = step.data;
  if (s.rows == 0) return;
  if (s.kind == StepKind::take) s.r = callers.r;
  if (s.ends) s.z = callers.z;
  Circumstances now{.not_needed = callers.hints.not_needed};
  if (s.ends || s.kind == StepKind::take) {
    now.exponent = exponent;
    if (exponent) now.norm = callers.hints.norm;
  }
  switch (s.kind) {
    case StepKind::take:
    case StepKind::give:
    case StepKind::start:
    case StepKind::smooth_blocks:
      return launch_overlapping(blocks_for(s.rows, kThreads), kThreads, overlap, stream,
                                rows_kernel<Number>, s, now);
    case StepKind::solve:
      return launch_overlapping(blocks_for(s.rows, kWarpsPerBlock), kThreads, overlap, stream,
                                solve_kernel<Number>, s, now);
    default:
      visit_kind(s.kind, LaunchMultiply<Number>{s, step.matrix, now, overlap, stream});
  }
}
template void launch_step(BoundStepOf<float>, const CallersVectors&, CycleExponent*, bool,
                          StreamRef);
template void launch_step(BoundStepOf<double>, const CallersVectors&, CycleExponent*, bool,
                          StreamRef);

}  // namespace trireme::multigrid
