// SPDX-License-Identifier: BSD-3-Clause
// Runs a solver text inside one cooperative kernel.
//
//   block b keeps rows [b R, (b+1) R): their matrix entries (slices of 32 rows, entry k of a
//   slice's rows side by side) and their part of every vector, in shared memory product:  own part
//   of x to global memory | all blocks arrive | gather from there what other blocks
//             own, from shared memory the rest; multiply from shared memory
//   sums:     own partial sums to global memory | all blocks arrive | every block adds those of all
//             blocks in the same order, so that all hold the same scalars
// One thread a block counts and polls one word. (Numbers that carry their own flags, polled by
// whoever needs them, save the second trip through L2 but were slower: the polling delays what it
// waits for.)
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "krylov/resident/cg_passes.hpp"
#include "krylov/resident/cuda_control.cuh"

namespace trireme::resident {

inline constexpr int kMostExchanged = 5;  // sums of a step, and the wish to stop
inline constexpr int kMaxPersistentBlocks = 160;

// Where the parts of a block lie in its dynamic shared memory, in this order.
struct SharedLayout {
  double* vectors;  // `count` of them, rows_a_block long each
  double* values;
  std::int32_t* columns;
  std::int32_t* lengths;       // of each row
  std::int32_t* slice_starts;  // entries before each slice of 32 rows
};

struct PersistentArguments {
  std::int64_t rows;
  std::int64_t rows_a_block;
  std::int32_t entries;
  std::int32_t vectors;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* matrix_values;
  Control* control;
  History history;
  unsigned* arrivals;  // one word, zero
  double* partials;    // 2 x kMostExchanged x blocks
  double* twins;       // 2 x rows: what others gather
};

class PersistentExecutor {
 public:
  __device__ __forceinline__ PersistentExecutor(const PersistentArguments& a, char* shared)
      : a_(a), first_(blockIdx.x * a.rows_a_block), last_(min(a.rows, first_ + a.rows_a_block)) {
    lay_out(shared);
    load_matrix();
  }

  // Vector k of the block's rows, to be indexed by global row.
  __device__ __forceinline__ double* vector(int k) const {
    return layout_.vectors + k * a_.rows_a_block - first_;
  }
  __device__ __forceinline__ std::int64_t first() const { return first_; }
  __device__ __forceinline__ std::int64_t last() const { return last_; }

  __device__ __forceinline__ std::int64_t rows() const { return a_.rows; }
  __device__ __forceinline__ bool running() const { return shared_state().running; }
  __device__ __forceinline__ bool needs_true_residual() const {
    return resident::needs_true_residual(shared_state());
  }

  // The matrix is kept in FP64.
  __device__ __forceinline__ static constexpr bool inexact() { return false; }
  __device__ __forceinline__ void exact_product(const double* x, double* y) { product(x, y); }

  template <class Body>
  __device__ __forceinline__ void repeat(const Body& body) {
    while (running()) body();
  }

  __device__ __forceinline__ void product(const double* x, double* y) {
    static_cast<void>(multiply(x, y));
  }

  template <class Step>
  __device__ __forceinline__ void product_and_dot(const double* x, double* y, const Step& step) {
    pending_[pending_count_++] = multiply(x, y);
    finish(step);
  }

  template <class Pass>
  __device__ __forceinline__ void pass(const Pass& pass) {
    double sums[Pass::sums == 0 ? 1 : Pass::sums] = {};
    if (Pass::always || shared_state().live) {
      const State s = shared_state();
      for (std::int64_t i = first_ + threadIdx.x; i < last_; i += blockDim.x) {
        typename Pass::Row row = pass.load(i);
        pass.update(row, s, sums);
        pass.store(i, row);
      }
    }
#pragma unroll
    for (int k = 0; k < Pass::sums; ++k) pending_[pending_count_++] = sums[k];
  }

  template <class Pass, class Step>
  __device__ __forceinline__ void pass(const Pass& p, const Step& step) {
    pass(p);
    finish(step);
  }

  __device__ __forceinline__ void forget_sums() { pending_count_ = 0; }

  // Warp 0 adds up the block's sums and then the grid's; thread 0 does the step.
  template <class Step>
  __device__ __forceinline__ void finish(const Step& step) {
    __shared__ double warp_sums[kMostExchanged][32];
    const int count = pending_count_;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    double* const partials = a_.partials + (++sums_ & 1) * kMostExchanged * gridDim.x;
#pragma unroll
    for (int k = 0; k < kMostExchanged; ++k)
      if (k < count) {
        const double sum = warp_sum(pending_[k]);
        if (lane == 0) warp_sums[k][warp] = sum;
      }
    __syncthreads();
    if (warp == 0) {
      // The wish to stop travels now and then, from block 0 to all.
      const bool ask = Step::ends_iteration && (shared_state().iterations & 15) == 15;
#pragma unroll
      for (int k = 0; k < kMostExchanged; ++k)
        if (k < count) {
          const double sum = warp_sum(lane < blockDim.x / 32 ? warp_sums[k][lane] : 0.0);
          if (lane == 0) partials[k * gridDim.x + blockIdx.x] = sum;
        }
      if (ask && blockIdx.x == 0 && lane == 0)
        partials[count * gridDim.x] = *static_cast<volatile std::int32_t*>(&a_.control->stop);
      if (lane == 0) arrive_and_wait();
      ++arrived_;
      __syncwarp();
      double sums[kMostExchanged];
      add_blocks(partials, count, sums);
      if (lane == 0) {
        State s = shared_state();
        const bool stop_asked = ask && __ldcg(partials + count * gridDim.x) != 0;
        const bool ended = apply(s, step, sums, stop_asked);
        shared_state() = s;
        if (ended && blockIdx.x == 0) publish(*a_.control, a_.history, s);
      }
    } else {
      ++arrived_;
    }
    __syncthreads();
    pending_count_ = 0;
  }

  // By every thread of every block, before and after the text.
  __device__ __forceinline__ void begin() {
    if (threadIdx.x == 0) shared_state() = a_.control->state;
    __syncthreads();
  }
  __device__ __forceinline__ void end() {
    if (blockIdx.x == 0 && threadIdx.x == 0) a_.control->state = shared_state();
  }

 private:
  static constexpr int kInFlight = 8;  // gathers of a row

  __device__ __forceinline__ static State& shared_state() {
    __shared__ State state;
    return state;
  }

  __device__ __forceinline__ void lay_out(char* shared) {
    const std::int64_t r = a_.rows_a_block;
    layout_.vectors = reinterpret_cast<double*>(shared);
    layout_.values = layout_.vectors + a_.vectors * r;
    layout_.columns = reinterpret_cast<std::int32_t*>(layout_.values + a_.entries);
    layout_.lengths = layout_.columns + a_.entries;
    layout_.slice_starts = layout_.lengths + r;
  }

  // Row i of the block: entry k at slice_starts[i / 32] + 32 k + i % 32. A column of the block's
  // own is counted from its first row; another is stored as its complement, below 0.
  __device__ __forceinline__ void load_matrix() {
    const int own = static_cast<int>(last_ > first_ ? last_ - first_ : 0);
    const int slices = (own + 31) / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int slice = warp; slice < slices; slice += blockDim.x / 32) {
      const int i = slice * 32 + lane;
      const std::int32_t length = i < own ? a_.row_ptr[first_ + i + 1] - a_.row_ptr[first_ + i] : 0;
      if (i < own) layout_.lengths[i] = length;
      const std::int32_t longest = __reduce_max_sync(kFullWarp, length);
      if (lane == 0) layout_.slice_starts[slice + 1] = 32 * longest;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      layout_.slice_starts[0] = 0;
      for (int slice = 0; slice < slices; ++slice)
        layout_.slice_starts[slice + 1] += layout_.slice_starts[slice];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < own; i += blockDim.x) {
      const std::int32_t begin = a_.row_ptr[first_ + i];
      const std::int32_t place = layout_.slice_starts[i / 32] + i % 32;
      for (std::int32_t k = 0; k < layout_.lengths[i]; ++k) {
        const std::int32_t column = a_.col_idx[begin + k];
        const bool own_column = column >= first_ && column < last_;
        layout_.columns[place + 32 * k] =
            own_column ? static_cast<std::int32_t>(column - first_) : ~column;
        layout_.values[place + 32 * k] = a_.matrix_values[begin + k];
      }
    }
    __syncthreads();
  }

  // y = A x; this thread's part of x.y.
  __device__ __forceinline__ double multiply(const double* x, double* y) {
    double* const twin = a_.twins + (++products_ & 1) * a_.rows;
    for (std::int64_t i = first_ + threadIdx.x; i < last_; i += blockDim.x) __stcg(twin + i, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) arrive_and_wait();
    ++arrived_;
    __syncthreads();
    double dot = 0;
    const double* const own_x = x + first_;
    const int own = static_cast<int>(last_ > first_ ? last_ - first_ : 0);
    for (int i = threadIdx.x; i < own; i += blockDim.x) {
      const std::int32_t length = layout_.lengths[i];
      const std::int32_t place = layout_.slice_starts[i / 32] + i % 32;
      double sum = 0;
      for (int k = 0; k < length; k += kInFlight) {
        double gathered[kInFlight];
#pragma unroll
        for (int j = 0; j < kInFlight; ++j)
          if (k + j < length) {
            const std::int32_t column = layout_.columns[place + 32 * (k + j)];
            gathered[j] = column >= 0 ? own_x[column] : __ldcg(twin + ~column);
          }
#pragma unroll
        for (int j = 0; j < kInFlight; ++j)
          if (k + j < length) sum += layout_.values[place + 32 * (k + j)] * gathered[j];
      }
      y[first_ + i] = sum;
      dot += sum * own_x[i];
    }
    return dot;
  }

  // By one thread, after its block's threads have met: returns when every block has come as often,
  // with what they wrote before visible to this block's threads once they have met again.
  __device__ __forceinline__ void arrive_and_wait() const {
    const unsigned target = (arrived_ + 1) * gridDim.x;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(a_.arrivals) : "memory");
    unsigned seen = 0;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(a_.arrivals)
                   : "memory");
    } while (static_cast<int>(seen - target) < 0);  // also when the count wraps
  }

  // Sums over blocks in a fixed order, the same bits in every lane of every block.
  __device__ __forceinline__ void add_blocks(const double* partials, int count,
                                             double* sums) const {
    constexpr int most = (kMaxPersistentBlocks + 31) / 32;
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < kMostExchanged; ++k) {
      if (k >= count) continue;
      double part[most];
#pragma unroll
      for (int j = 0; j < most; ++j)
        part[j] =
            lane + 32 * j < gridDim.x ? __ldcg(partials + k * gridDim.x + lane + 32 * j) : 0.0;
      sums[k] = 0;
#pragma unroll
      for (int j = 0; j < most; ++j) sums[k] += part[j];
    }
#pragma unroll
    for (int k = 0; k < kMostExchanged; ++k)
      if (k < count)
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2)
          sums[k] += __shfl_xor_sync(kFullWarp, sums[k], offset);
  }

  const PersistentArguments& a_;
  std::int64_t first_, last_;
  SharedLayout layout_{};
  double pending_[kMostExchanged] = {};
  int pending_count_ = 0;
  unsigned sums_ = 0, products_ = 0;  // which of two sets of memory is in use
  unsigned arrived_ = 0;
};

}  // namespace trireme::resident
