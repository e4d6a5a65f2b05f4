// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels of the steps of a cycle. Every number of a vector is written by one thread, whose
// order of additions depends on the layout only, so that every run gives the same bits.
#include "multigrid/cuda/cuda_steps.hpp"

#include <cstddef>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "device/grid_barrier.cuh"
#include "device/overlap.cuh"
#include "multigrid/cuda/cuda_rows.cuh"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 256;
constexpr int kWarpsPerBlock = kThreads / kWarp;
constexpr int kTogetherThreads = 1024;

// Reads through L2 what other blocks of the same launch have written.
struct LoadThroughL2 {
  __device__ __forceinline__ static double at(const double* from, std::int64_t i) {
    return __ldcg(from + i);
  }
};

void bind(StepData& s, const CallersVectors& callers) {
  if (!s.b) s.b = callers.r;
  if (!s.x) s.x = callers.z;
  if (!s.to) s.to = callers.z;
  if (!s.kept) s.kept = callers.z;
}

// Row i of x = A^-1 b by a whole warp.
template <class Load>
__device__ __forceinline__ void solve_row(const StepData& s, std::int64_t i) {
  double sum = 0;
  for (std::int64_t j = threadIdx.x % kWarp; j < s.rows; j += kWarp)
    sum += s.w[i * s.rows + j] * Load::at(s.b, j);
  sum = warp_sum(sum);
  if (threadIdx.x % kWarp == 0) s.to[i] = sum;
}

template <StepKind kind, bool from_zero, class Value, class Column>
__global__ void __launch_bounds__(kThreads)
    multiply_kernel(const __grid_constant__ StepData s, const __grid_constant__ RowsView a) {
  wait_for_predecessor();
  const std::int32_t chunk = static_cast<std::int32_t>(blockIdx.x) * kWarpsPerBlock +
                             static_cast<std::int32_t>(threadIdx.x) / kWarp;
  if (chunk < a.chunks) multiply_chunk<kind, from_zero, PlainLoad, Value, Column>(a, s, chunk);
}

__global__ void __launch_bounds__(kThreads) rows_kernel(const __grid_constant__ StepData s) {
  wait_for_predecessor();
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < s.rows) run_step_row<PlainLoad>(s, i);
}

__global__ void __launch_bounds__(kThreads) solve_kernel(const __grid_constant__ StepData s) {
  wait_for_predecessor();
  const std::int64_t i =
      static_cast<std::int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarp;
  if (i < s.rows) solve_row<PlainLoad>(s, i);
}

unsigned blocks_for(std::int64_t units, int per_block) {
  return static_cast<unsigned>((units + per_block - 1) / per_block);
}

template <StepKind kind, bool from_zero, class Value>
void launch_multiply(const StepData& s, const RowsView& a, bool overlap, StreamRef stream) {
  const unsigned blocks = blocks_for(a.chunks, kWarpsPerBlock);
  if (a.narrow)
    launch_overlapping(blocks, kThreads, overlap, stream,
                       multiply_kernel<kind, from_zero, Value, std::uint16_t>, s, a);
  else
    launch_overlapping(blocks, kThreads, overlap, stream,
                       multiply_kernel<kind, from_zero, Value, std::int32_t>, s, a);
}

// Calls visit.operator()<kind, from_zero>() for the kinds with a sparse matrix.
TRIREME_EXECUTOR_TEXT
template <class Visit>
__host__ __device__ __forceinline__ void visit_kind(const StepData& s, const Visit& visit) {
  switch (s.kind) {
    case StepKind::product:
      return visit.template operator()<StepKind::product, false>();
    case StepKind::correct:
      return visit.template operator()<StepKind::correct, false>();
    case StepKind::residual:
      if (s.from_zero) return visit.template operator()<StepKind::residual, true>();
      return visit.template operator()<StepKind::residual, false>();
    case StepKind::smooth:
      if (s.from_zero) return visit.template operator()<StepKind::smooth, true>();
      return visit.template operator()<StepKind::smooth, false>();
    default:
      return;
  }
}

struct LaunchMultiply {
  const StepData& s;
  const RowsView& a;
  bool overlap;
  StreamRef stream;

  template <StepKind kind, bool from_zero>
  void operator()() const {
    if (a.single)
      launch_multiply<kind, from_zero, float>(s, a, overlap, stream);
    else
      launch_multiply<kind, from_zero, double>(s, a, overlap, stream);
  }
};

// This block's part of a step among steps that run together.
struct MultiplyTogether {
  const StepData& s;
  const RowsView& a;

  template <StepKind kind, bool from_zero>
  __device__ __forceinline__ void operator()() const {
    if (a.single)
      run<kind, from_zero, float>();
    else
      run<kind, from_zero, double>();
  }
  template <StepKind kind, bool from_zero, class Value>
  __device__ __forceinline__ void run() const {
    // Neighbouring chunks go to different blocks, so that few chunks use all multiprocessors.
    const auto warps = static_cast<std::int32_t>(gridDim.x) * (kTogetherThreads / kWarp);
    for (std::int32_t chunk =
             static_cast<std::int32_t>(threadIdx.x) / kWarp * gridDim.x + blockIdx.x;
         chunk < a.chunks; chunk += warps)
      multiply_chunk<kind, from_zero, LoadThroughL2, Value, std::uint16_t>(a, s, chunk);
  }
};

__device__ void run_together(const StepData& s, const RowsView& a) {
  const std::int64_t warps = std::int64_t{gridDim.x} * (kTogetherThreads / kWarp);
  const std::int64_t warp = std::int64_t{threadIdx.x} / kWarp * gridDim.x + blockIdx.x;
  switch (s.kind) {
    case StepKind::start:
    case StepKind::smooth_blocks:
      for (std::int64_t i = warp * kWarp + threadIdx.x % kWarp; i < s.rows; i += warps * kWarp)
        run_step_row<LoadThroughL2>(s, i);
      return;
    case StepKind::solve:
      for (std::int64_t i = warp; i < s.rows; i += warps) solve_row<LoadThroughL2>(s, i);
      return;
    default:
      visit_kind(s, MultiplyTogether{s, a});
  }
}

// The 8 bytes of a BoundStep in which a member of its data begins.
__host__ __device__ constexpr int word_of(std::size_t offset) {
  return static_cast<int>((offsetof(BoundStep, data) + offset) / sizeof(std::uint64_t));
}

__global__ void __launch_bounds__(kTogetherThreads, 1)
    together_kernel(const BoundStep* steps, int count, CallersVectors callers, unsigned* arrivals) {
  constexpr int kWords = sizeof(BoundStep) / sizeof(std::uint64_t);
  static_assert(sizeof(BoundStep) % sizeof(std::uint64_t) == 0 && kWords <= kTogetherThreads);
  __shared__ std::uint64_t slots[2][kWords];
  // The next step is fetched while this one runs. Null addresses become those of the caller.
  const auto fetch = [&](int k) {
    const auto word = static_cast<int>(threadIdx.x);
    if (word >= kWords) return;
    std::uint64_t value = reinterpret_cast<const std::uint64_t*>(steps + k)[word];
    if (value == 0 && word == word_of(offsetof(StepData, b)))
      value = reinterpret_cast<std::uint64_t>(callers.r);
    if (value == 0 &&
        (word == word_of(offsetof(StepData, x)) || word == word_of(offsetof(StepData, to)) ||
         word == word_of(offsetof(StepData, kept))))
      value = reinterpret_cast<std::uint64_t>(callers.z);
    slots[k & 1][word] = value;
  };
  GridBarrier barrier(arrivals);
  fetch(0);
  __syncthreads();
  for (int k = 0; k < count; ++k) {
    if (k + 1 < count) fetch(k + 1);
    const auto* const step = reinterpret_cast<const BoundStep*>(slots[k & 1]);
    run_together(step->data, step->matrix);
    if (k + 1 < count) barrier.meet();
  }
  barrier.close();
}

}  // namespace

bool steps_may_overlap() { return waits_for_predecessor(rows_kernel); }

void launch_step(BoundStep step, const CallersVectors& callers, bool overlap, StreamRef stream) {
  StepData& s = step.data;
  bind(s, callers);
  if (s.rows == 0) return;
  switch (s.kind) {
    case StepKind::start:
    case StepKind::smooth_blocks:
      return launch_overlapping(blocks_for(s.rows, kThreads), kThreads, overlap, stream,
                                rows_kernel, s);
    case StepKind::solve:
      return launch_overlapping(blocks_for(s.rows, kWarpsPerBlock), kThreads, overlap, stream,
                                solve_kernel, s);
    default:
      visit_kind(s, LaunchMultiply{s, step.matrix, overlap, stream});
  }
}

int blocks_together() {
  const DeviceProperties gpu = device_properties();
  if (!gpu.cooperative_launch || gpu.compute_major < 8) return 0;
  int per_multiprocessor = 0;
  cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, together_kernel,
                                                           kTogetherThreads, 0));
  return per_multiprocessor > 0 ? gpu.multiprocessors : 0;
}

void launch_together(const BoundStep* steps, int count, const CallersVectors& callers,
                     unsigned* arrivals, int blocks, StreamRef stream) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = kTogetherThreads;
  config.stream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  cuda_check(cudaLaunchKernelEx(&config, together_kernel, steps, count, callers, arrivals));
}

}  // namespace trireme::multigrid
