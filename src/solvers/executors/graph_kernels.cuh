// SPDX-License-Identifier: BSD-3-Clause
// The kernels of which a CUDA graph of a solver text is made.
//
// Deterministic: a grid of fixed size writes one partial sum a block; the last block to finish, or
// a block of its own, adds them in an order that depends on their number only.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "device/peer_words.cuh"
#include "solvers/executors/cuda_control.cuh"

namespace trireme::solvers {

inline constexpr int kPassThreads = 256;
inline constexpr int kFinishThreads = 1024;
inline constexpr int kMaxSums = 4;     // of one pass
inline constexpr int kMaxPending = 3;  // passes and products before a step
static_assert(kMaxSums * kMaxPending < PeerSums::max_values);

// Partial sums that wait for a step, in the order of the text.
struct PendingSums {
  struct Item {
    const double* partials = nullptr;  // sum k of block b at [k * count + b]
    std::int32_t count = 0;            // blocks
    std::int32_t sums = 0;
  };
  Item items[kMaxPending];
  std::int32_t count = 0;

  void add(const double* partials, std::int32_t blocks, std::int32_t sums) {
    items[count++] = {partials, blocks, sums};
  }
  __host__ __device__ int sums() const {
    int all = 0;
    for (int k = 0; k < count; ++k) all += items[k].sums;
    return all;
  }
};

struct LoopHandle {
  cudaGraphConditionalHandle handle = 0;
  bool set = false;  // a step tells the graph's loop whether to go on
};

// Totals of all that is pending, in thread 0.
template <int threads>
__device__ void total(const PendingSums& pending, double* totals) {
  int k = 0;
  for (int item = 0; item < pending.count; ++item) {
    const PendingSums::Item& from = pending.items[item];
    for (int sum = 0; sum < from.sums; ++sum) {
      double value = 0;
      for (int b = threadIdx.x; b < from.count; b += threads)
        value += __ldcg(from.partials + static_cast<std::int64_t>(sum) * from.count + b);
      value = block_sum<threads>(value);
      if (threadIdx.x == 0) totals[k] = value;
      ++k;
    }
  }
}

template <class Step>
__device__ void apply_on_device(Control& control, const History& history, const Step& step,
                                const double* totals, bool stop_asked, const LoopHandle& loop) {
  State s = control.state;
  if (apply(s, step, totals, stop_asked)) publish(control, history, s);
  control.state = s;
  if (loop.set) cudaGraphSetConditional(loop.handle, running(s) ? 1 : 0);
}

// Sums over the other GPUs as well where they write into each other's memory (`peers`), the wish to
// stop among them; then the step. A GPU that misses what another one should have sent wishes to
// stop too. By one whole block, whose thread 0 has the totals of this GPU.
template <class Step>
__device__ void complete(const PendingSums& pending, PeerSums* peers, Control& control,
                         const History& history, const Step& step, double* totals,
                         const LoopHandle& loop) {
  // Both loads are on their way before one is used.
  const std::int32_t stop = *static_cast<volatile std::int32_t*>(&control.stop);
  const std::int32_t missed = peers ? peers->wait.missed : 0;
  bool stop_asked = (stop | missed) != 0;
  if (peers) {
    const int count = pending.sums();
    if (threadIdx.x == 0) totals[count] = stop_asked ? 1 : 0;
    sum_over_peers(peers, totals, count + 1);
    stop_asked = totals[count] != 0;  // NaN: a wish has not come
  }
  if (threadIdx.x == 0) apply_on_device(control, history, step, totals, stop_asked, loop);
}

struct NoStep {};

// Where a kernel was launched to overlap with the one before it (launch_after()): waits for that,
// and lets the next one be launched, which waits here in its turn. First of all in every kernel.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// One pass, its sums, and, with a Step, the scalars. `tickets` counts finished blocks and is 0
// between launches.
template <class Pass, class Step>
__global__ void __launch_bounds__(kPassThreads, 4)
    pass_kernel(Pass pass, std::int64_t rows, Control* control, double* partials,
                PendingSums pending, unsigned* tickets, PeerSums* peers, Step step, History history,
                LoopHandle loop) {
  wait_for_predecessor();
  if (!Pass::always && !live(control->state)) return;
  constexpr int width = sizeof(typename Pass::Row) / sizeof(double);
  constexpr int rows_in_flight = width >= 6 ? 2 : 4;
  const State s = control->state;
  double sums[Pass::sums == 0 ? 1 : Pass::sums] = {};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kPassThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPassThreads + threadIdx.x;
       i < rows; i += rows_in_flight * stride) {
    typename Pass::Row row[rows_in_flight];
#pragma unroll
    for (int k = 0; k < rows_in_flight; ++k)
      if (i + k * stride < rows) row[k] = pass.load(i + k * stride);
#pragma unroll
    for (int k = 0; k < rows_in_flight; ++k)
      if (i + k * stride < rows) {
        pass.update(row[k], s, sums);
        pass.store(i + k * stride, row[k]);
      }
  }
#pragma unroll
  for (int k = 0; k < Pass::sums; ++k) {
    const double sum = block_sum<kPassThreads>(sums[k]);
    if (threadIdx.x == 0) partials[k * gridDim.x + blockIdx.x] = sum;
  }
  if constexpr (!std::is_same_v<Step, NoStep>) {
    __shared__ bool last;
    __shared__ double totals[PeerSums::max_values];
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    total<kPassThreads>(pending, totals);
    complete(pending, peers, *control, history, step, totals, loop);
  }
}

// Sums that a product left behind, and a step: one block.
template <class Step>
__global__ void __launch_bounds__(kFinishThreads)
    finish_kernel(PendingSums pending, Control* control, PeerSums* peers, Step step,
                  History history, LoopHandle loop) {
  wait_for_predecessor();
  __shared__ double totals[PeerSums::max_values];
  total<kFinishThreads>(pending, totals);
  complete(pending, peers, *control, history, step, totals, loop);
}

// Over processes whose GPUs do not write into each other's memory the same in three parts: totals
// of this process and its wish to stop; their sum over the processes; the step.
__global__ void __launch_bounds__(kFinishThreads)
    collect_kernel(PendingSums pending, const Control* control, double* totals);

template <class Step>
__global__ void step_kernel(const double* totals, int count, Control* control, Step step,
                            History history) {
  apply_on_device(*control, history, step, totals, totals[count] > 0, LoopHandle{});
}

}  // namespace trireme::solvers
