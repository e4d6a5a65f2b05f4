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
// The most partial sums that each block of a pass adds up for a first step; more are left to a
// launch of their own.
inline constexpr int kMaxFirstPartials = 6 * kPassThreads;
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

// The state in the shared memory of a block while a step changes it, and the wish of the host to
// stop. One thread applies the step, and all copy: what a single thread does, it waits for.
struct SharedState {
  using Word = unsigned long long;
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(Word) == 0);
  static constexpr unsigned words = sizeof(State) / sizeof(Word);
  static_assert(words < kPassThreads);
  Word memory[words];
  std::int32_t stop;

  __device__ State& state() { return *reinterpret_cast<State*>(memory); }

  // A copy takes two calls by every thread of a block, so that other loads can be issued in
  // between. It is complete after the next __syncthreads().
  __device__ static Word fetch(const Control& from) {
    if (threadIdx.x < words)
      return __ldcg(reinterpret_cast<const Word*>(&from.state) + threadIdx.x);
    if (threadIdx.x == words) return static_cast<Word>(__ldcg(&from.stop));
    return 0;
  }
  __device__ void put(Word fetched) {
    if (threadIdx.x < words) memory[threadIdx.x] = fetched;
    if (threadIdx.x == words) stop = static_cast<std::int32_t>(fetched);
  }
  // Called by every thread of a block after thread 0 has changed the state.
  __device__ void store(State& to) const {
    __syncthreads();
    if (threadIdx.x < words) reinterpret_cast<Word*>(&to)[threadIdx.x] = memory[threadIdx.x];
  }
};

// Adds up all pending sums. Called by one whole block of `threads` threads, each of which calls
// meanwhile() on the way. totals[k] is written by thread 0, and the other threads see it after the
// next __syncthreads().
template <int threads, class Meanwhile>
__device__ void total(const PendingSums& pending, double* totals, const Meanwhile& meanwhile) {
  constexpr int warps = threads / 32;
  __shared__ double of_warps[kMaxSums * kMaxPending][warps];
  int count = 0;
  for (int item = 0; item < pending.count; ++item) {
    const PendingSums::Item& from = pending.items[item];
    double value[kMaxSums] = {};
#pragma unroll 3
    for (int b = threadIdx.x; b < from.count; b += threads)
#pragma unroll
      for (int sum = 0; sum < kMaxSums; ++sum)
        if (sum < from.sums) value[sum] += __ldcg(from.partials + sum * from.count + b);
#pragma unroll
    for (int sum = 0; sum < kMaxSums; ++sum)
      if (sum < from.sums) {
        const double of_warp = warp_sum(value[sum]);
        if (threadIdx.x % 32 == 0) of_warps[count + sum][threadIdx.x / 32] = of_warp;
      }
    count += from.sums;
  }
  meanwhile();
  __syncthreads();
  if (threadIdx.x >= 32) return;
  for (int k = 0; k < count; ++k) {
    const double value = warp_sum(threadIdx.x < warps ? of_warps[k][threadIdx.x] : 0.0);
    if (threadIdx.x == 0) totals[k] = value;
  }
}

// Applies a scalar step to the state. Called by one thread.
template <class Step>
__device__ void apply_to(State& s, Control& control, const History& history, const Step& step,
                         const double* totals, bool stop_asked, const LoopHandle& loop) {
  if (apply(s, step, totals, stop_asked)) publish(control, history, s);
  // The condition is true from the start of the graph on.
  if (loop.set && !running(s)) cudaGraphSetConditional(loop.handle, 0);
}

// Completes the totals and applies the step. Where GPUs write into each other's memory (`peers` is
// not null), the totals and the wish to stop are summed over the GPUs first. A GPU that did not
// receive data in time from another GPU also wishes to stop. Called by one whole block, whose
// thread 0 has the totals of this GPU. `shared` has the state before the step.
template <class Step>
__device__ void complete(const PendingSums& pending, PeerSums* peers, SharedState& shared,
                         Control& control, const History& history, const Step& step, double* totals,
                         const LoopHandle& loop) {
  bool stop_asked = (shared.stop | (peers ? peers->wait.missed : 0)) != 0;
  if (peers) {
    const int count = pending.sums();
    if (threadIdx.x == 0) totals[count] = stop_asked ? 1 : 0;
    sum_over_peers(peers, totals, count + 1);
    stop_asked = totals[count] != 0;  // also true for NaN: a GPU's wish was not received
  }
  if (threadIdx.x == 0) apply_to(shared.state(), control, history, step, totals, stop_asked, loop);
  shared.store(control.state);
}

// Stands for the step of a pass that has none.
struct NoStep {};

// A step that a pass applies before it works on its rows, in each of its blocks, so that it needs
// no launch of its own. It sees one sum, and ends no iteration.
template <class Step>
struct FirstStep {
  const double* partials;
  std::int32_t count;  // at most kMaxFirstPartials
  Step step;
};

// Loads the state and applies the first step to it. Called by every thread of a block, each of
// which calls meanwhile() after it has issued the loads. Returns whether the state was live.
template <class First, class Meanwhile>
__device__ bool apply_first(const FirstStep<First>& first, const Control& control,
                            SharedState& shared, const Meanwhile& meanwhile) {
  static_assert(!First::ends_iteration);
  constexpr int at_once = kMaxFirstPartials / kPassThreads;
  const SharedState::Word word = SharedState::fetch(control);
  double partials[at_once];
#pragma unroll
  for (int k = 0; k < at_once; ++k) {
    const int b = static_cast<int>(threadIdx.x) + k * kPassThreads;
    partials[k] = b < first.count ? __ldcg(first.partials + b) : 0;
  }
  meanwhile();
  shared.put(word);
  double sum = 0;
#pragma unroll
  for (int k = 0; k < at_once; ++k) sum += partials[k];
  __shared__ bool was_live;
  sum = block_sum<kPassThreads>(sum);
  if (threadIdx.x == 0) {
    was_live = live(shared.state());
    if (was_live) apply(shared.state(), first.step, &sum, false);
  }
  __syncthreads();
  return was_live;
}

// The rows of one thread in a pass, some of them in flight.
template <class Pass, int in_flight>
struct PassRows {
  Pass pass;
  std::int64_t row, end, stride;
  typename Pass::Row rows[in_flight];

  __device__ __forceinline__ void load() {
#pragma unroll
    for (int k = 0; k < in_flight; ++k)
      if (row + k * stride < end) rows[k] = pass.load(row + k * stride);
  }
  // After the first load().
  __device__ __forceinline__ void run(const State& s, double* sums) {
    while (row < end) {
#pragma unroll
      for (int k = 0; k < in_flight; ++k)
        if (row + k * stride < end) {
          pass.update(rows[k], s, sums);
          pass.store(row + k * stride, rows[k]);
        }
      row += in_flight * stride;
      load();
    }
  }
};

// Whether a pass has a form for four neighbouring rows at once.
template <class Pass>
inline constexpr bool kHasFours = requires(const Pass& pass) {
  pass.in_fours();
};

template <class Pass>
__device__ __forceinline__ auto rows_of_thread(const Pass& pass, std::int64_t rows) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kPassThreads;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kPassThreads + threadIdx.x;
  if constexpr (kHasFours<Pass>) {
    return PassRows<decltype(pass.in_fours()), 1>{pass.in_fours(), first, rows / 4, stride};
  } else {
    constexpr int width = sizeof(typename Pass::Row) / sizeof(double);
    return PassRows < Pass, width >= 6 ? 2 : 4 > {pass, first, rows, stride};
  }
}

// Runs one pass and writes its partial sums. With a Step, the last block to finish also applies the
// step to all pending sums. `tickets` counts the finished blocks; it is 0 between launches.
//
// With a first step, no block may change the state before all blocks have read it: the last one to
// finish does. The first rows are on their way meanwhile.
template <class First, class Pass, class Step>
__global__ void __launch_bounds__(kPassThreads, 4)
    pass_kernel(const __grid_constant__ First first, Pass pass, std::int64_t rows, Control* control,
                double* partials, const __grid_constant__ PendingSums pending, unsigned* tickets,
                PeerSums* peers, Step step, History history, LoopHandle loop) {
  constexpr bool has_first = !std::is_same_v<First, NoStep>;
  __shared__ SharedState shared;
  wait_for_predecessor();
  auto own = rows_of_thread(pass, rows);
  if constexpr (has_first) {
    if (!apply_first(first, *control, shared, [&] { own.load(); })) return;
  } else {
    own.load();
  }
  const State& before = has_first ? shared.state() : control->state;
  const bool takes = takes_place(pass, before);
  if (!has_first && !takes) return;
  double sums[Pass::sums == 0 ? 1 : Pass::sums] = {};
  if (takes) {
    const State s = before;
    own.run(s, sums);
    if constexpr (kHasFours<Pass>) {
      if (const std::int64_t row = rows / 4 * 4 + threadIdx.x; blockIdx.x == 0 && row < rows) {
        typename Pass::Row last = pass.load(row);
        pass.update(last, s, sums);
        pass.store(row, last);
      }
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
    if constexpr (has_first) {
      total<kPassThreads>(pending, totals, [] {});
    } else {
      const SharedState::Word word = SharedState::fetch(*control);
      total<kPassThreads>(pending, totals, [&] { shared.put(word); });
    }
    complete(pending, peers, shared, *control, history, step, totals, loop);
  }
}

// Applies a step to the pending sums. Launched with one block.
template <class Step>
__global__ void __launch_bounds__(kFinishThreads)
    finish_kernel(const __grid_constant__ PendingSums pending, Control* control, PeerSums* peers,
                  Step step, History history, LoopHandle loop) {
  __shared__ SharedState shared;
  __shared__ double totals[PeerSums::max_values];
  wait_for_predecessor();
  const SharedState::Word word = SharedState::fetch(*control);
  total<kFinishThreads>(pending, totals, [&] { shared.put(word); });
  complete(pending, peers, shared, *control, history, step, totals, loop);
}

// The first of three parts that replace finish_kernel() where GPUs do not write into each other's
// memory: writes the totals of this process, followed by its wish to stop (0 or 1). The system's
// sum() over the processes is the second part, and step_kernel() the third.
__global__ void __launch_bounds__(kFinishThreads)
    collect_kernel(const __grid_constant__ PendingSums pending, const Control* control,
                   double* totals);

// Applies a step to `count` totals; totals[count] is the number of processes that wish to stop.
// Launched with one thread.
template <class Step>
__global__ void step_kernel(const double* totals, int count, Control* control, Step step,
                            History history) {
  apply_to(control->state, *control, history, step, totals, totals[count] > 0, LoopHandle{});
}

}  // namespace trireme::solvers
