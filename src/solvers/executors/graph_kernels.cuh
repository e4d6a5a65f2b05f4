// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels that a CUDA graph of a method's algorithm consists of.
//
// Sums are deterministic. A grid of fixed size writes one partial sum per block. The last block to
// finish, or the single block of a separate kernel, adds the partial sums in an order that depends
// on their number only.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "device/overlap.cuh"
#include "device/peer_words.cuh"
#include "solvers/executors/cuda_control.cuh"

namespace trireme::solvers {

inline constexpr int kPassThreads = 256;
inline constexpr int kFinishThreads = 1024;
inline constexpr int kMaxSums = 4;     // sums per pass
inline constexpr int kMaxPending = 3;  // passes and products with sums before a step
static_assert(kMaxSums * kMaxPending < PeerSums::max_values);

// Partial sums that the next step will use, in the order of the algorithm.
struct PendingSums {
  struct Item {
    const double* partials = nullptr;  // sum k of block b is at [k * count + b]
    std::int32_t count = 0;            // number of blocks
    std::int32_t sums = 0;             // sums per block
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

// The condition of the graph's while node.
struct LoopHandle {
  cudaGraphConditionalHandle handle = 0;
  bool set = false;  // whether steps update the condition
};

// Adds up all pending sums. Called by one whole block of `threads` threads; totals[k] is written
// by thread 0.
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

// Applies a scalar step to the state in device memory. Called by one thread.
template <class Step>
__device__ void apply_on_device(Control& control, const History& history, const Step& step,
                                const double* totals, bool stop_asked, const LoopHandle& loop) {
  State s = control.state;
  if (apply(s, step, totals, stop_asked)) publish(control, history, s);
  control.state = s;
  if (loop.set) cudaGraphSetConditional(loop.handle, running(s) ? 1 : 0);
}

// Completes the totals and applies the step. Where GPUs write into each other's memory (`peers` is
// not null), the totals and the wish to stop are summed over the GPUs first. A GPU that did not
// receive data in time from another GPU also wishes to stop. Called by one whole block, whose
// thread 0 has the totals of this GPU.
template <class Step>
__device__ void complete(const PendingSums& pending, PeerSums* peers, Control& control,
                         const History& history, const Step& step, double* totals,
                         const LoopHandle& loop) {
  // Both loads are issued before either value is used.
  const std::int32_t stop = *static_cast<volatile std::int32_t*>(&control.stop);
  const std::int32_t missed = peers ? peers->wait.missed : 0;
  bool stop_asked = (stop | missed) != 0;
  if (peers) {
    const int count = pending.sums();
    if (threadIdx.x == 0) totals[count] = stop_asked ? 1 : 0;
    sum_over_peers(peers, totals, count + 1);
    stop_asked = totals[count] != 0;  // also true for NaN: a GPU's wish was not received
  }
  if (threadIdx.x == 0) apply_on_device(control, history, step, totals, stop_asked, loop);
}

// Stands for the step of a pass that has none.
struct NoStep {};

// Runs one pass and writes its partial sums. With a Step, the last block to finish also applies the
// step to all pending sums. `tickets` counts the finished blocks; it is 0 between launches.
template <class Pass, class Step>
__global__ void __launch_bounds__(kPassThreads, 4)
    pass_kernel(Pass pass, std::int64_t rows, Control* control, double* partials,
                PendingSums pending, unsigned* tickets, PeerSums* peers, Step step, History history,
                LoopHandle loop) {
  wait_for_predecessor();
  if (!takes_place(pass, control->state)) return;
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

// Applies a step to the pending sums. Launched with one block.
template <class Step>
__global__ void __launch_bounds__(kFinishThreads)
    finish_kernel(PendingSums pending, Control* control, PeerSums* peers, Step step,
                  History history, LoopHandle loop) {
  wait_for_predecessor();
  __shared__ double totals[PeerSums::max_values];
  total<kFinishThreads>(pending, totals);
  complete(pending, peers, *control, history, step, totals, loop);
}

// The first of three parts that replace finish_kernel() where GPUs do not write into each other's
// memory: writes the totals of this process, followed by its wish to stop (0 or 1). The system's
// sum() over the processes is the second part, and step_kernel() the third.
__global__ void __launch_bounds__(kFinishThreads)
    collect_kernel(PendingSums pending, const Control* control, double* totals);

// Applies a step to `count` totals; totals[count] is the number of processes that wish to stop.
// Launched with one thread.
template <class Step>
__global__ void step_kernel(const double* totals, int count, Control* control, Step step,
                            History history) {
  apply_on_device(*control, history, step, totals, totals[count] > 0, LoopHandle{});
}

}  // namespace trireme::solvers
