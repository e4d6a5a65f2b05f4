// SPDX-License-Identifier: BSD-3-Clause
// Runs a solver text inside one cooperative kernel.
//
//   block b keeps rows [b R, (b+1) R): their matrix entries (slices of 32 rows, entry k of a
//   slice's rows side by side) and their part of every vector, in shared memory product:  own part
//   of x to global memory | all blocks arrive | gather, multiply from shared memory sums:     own
//   partial sums to every block, flag and number in one 16-byte word | every block adds
//             all of them in the same order, so all hold the same scalars
// An arrival is one flag a block in global memory, polled by all: no atomic counter, one trip
// through L2. A sum needs no barrier at all: a number that carries its flag needs no fence.
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
  uint4* exchange;  // 2 x kMostExchanged x blocks words, zero
  unsigned* flags;  // blocks, zero
  double* twins;    // 2 x rows: what others gather
};

class PersistentExecutor {
 public:
  __device__ PersistentExecutor(const PersistentArguments& a, char* shared)
      : a_(a), first_(blockIdx.x * a.rows_a_block), last_(min(a.rows, first_ + a.rows_a_block)) {
    lay_out(shared);
    load_matrix();
  }

  // Vector k of the block's rows, to be indexed by global row.
  __device__ double* vector(int k) const { return layout_.vectors + k * a_.rows_a_block - first_; }
  __device__ std::int64_t first() const { return first_; }
  __device__ std::int64_t last() const { return last_; }

  __device__ std::int64_t rows() const { return a_.rows; }
  __device__ bool running() const { return shared_state().running; }
  __device__ bool claims_convergence() const {
    return resident::claims_convergence(shared_state());
  }

  template <class Body>
  __device__ void repeat(const Body& body) {
    while (running()) body();
  }

  __device__ void product(const double* x, double* y) { static_cast<void>(multiply(x, y)); }

  template <class Step>
  __device__ void product_and_dot(const double* x, double* y, const Step& step) {
    pending_[pending_count_++] = multiply(x, y);
    finish(step);
  }

  template <class Pass>
  __device__ void pass(const Pass& pass) {
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
  __device__ void pass(const Pass& p, const Step& step) {
    pass(p);
    finish(step);
  }

  __device__ void forget_sums() { pending_count_ = 0; }

  template <class Step>
  __device__ void finish(const Step& step) {
    __shared__ double warp_sums[kMostExchanged][32];
    const int count = pending_count_;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
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
      ++epoch_;
      uint4* const words = a_.exchange + (epoch_ & 1) * kMostExchanged * gridDim.x;
#pragma unroll
      for (int k = 0; k < kMostExchanged; ++k)
        if (k < count) {
          double sum = lane < blockDim.x / 32 ? warp_sums[k][lane] : 0;
          sum = warp_sum(sum);
          if (lane == 0) send(words + k * gridDim.x + blockIdx.x, sum);
        }
      if (ask && blockIdx.x == 0 && lane == 0)
        send(words + count * gridDim.x, *static_cast<volatile std::int32_t*>(&a_.control->stop));
      double totals[kMostExchanged] = {};
#pragma unroll
      for (int k = 0; k < kMostExchanged; ++k)
        if (k < count) {
          double sum = 0;
          for (int b = lane; b < gridDim.x; b += 32) sum += receive(words + k * gridDim.x + b);
          totals[k] = warp_total(sum);
        }
      const bool stop_asked = ask && receive(words + count * gridDim.x) != 0;
      if (lane == 0) {
        State s = shared_state();
        if (apply(s, step, totals, stop_asked) && blockIdx.x == 0) record(s);
        shared_state() = s;
      }
    }
    __syncthreads();
    pending_count_ = 0;
  }

  // By every thread of every block, before and after the text.
  __device__ void begin() {
    if (threadIdx.x == 0) shared_state() = a_.control->state;
    __syncthreads();
  }
  __device__ void end() {
    if (blockIdx.x == 0 && threadIdx.x == 0) a_.control->state = shared_state();
  }

 private:
  __device__ static State& shared_state() {
    __shared__ State state;
    return state;
  }

  __device__ void lay_out(char* shared) {
    const std::int64_t r = a_.rows_a_block;
    layout_.vectors = reinterpret_cast<double*>(shared);
    layout_.values = layout_.vectors + a_.vectors * r;
    layout_.columns = reinterpret_cast<std::int32_t*>(layout_.values + a_.entries);
    layout_.lengths = layout_.columns + a_.entries;
    layout_.slice_starts = layout_.lengths + r;
  }

  // Row i of the block: entry k at slice_starts[i / 32] + 32 k + i % 32.
  __device__ void load_matrix() {
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
        layout_.columns[place + 32 * k] = a_.col_idx[begin + k];
        layout_.values[place + 32 * k] = a_.matrix_values[begin + k];
      }
    }
    __syncthreads();
  }

  // y = A x; this thread's part of x.y.
  __device__ double multiply(const double* x, double* y) {
    double* const twin = a_.twins + (arrivals_ & 1) * a_.rows;
    for (std::int64_t i = first_ + threadIdx.x; i < last_; i += blockDim.x) twin[i] = x[i];
    arrive();
    double dot = 0;
    const int own = static_cast<int>(last_ > first_ ? last_ - first_ : 0);
    for (int i = threadIdx.x; i < own; i += blockDim.x) {
      const std::int32_t length = layout_.lengths[i];
      const std::int32_t place = layout_.slice_starts[i / 32] + i % 32;
      double sum = 0;
      int k = 0;
      for (; k + 4 <= length; k += 4) {
        double gathered[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          gathered[j] = __ldcg(twin + layout_.columns[place + 32 * (k + j)]);
#pragma unroll
        for (int j = 0; j < 4; ++j) sum += layout_.values[place + 32 * (k + j)] * gathered[j];
      }
      for (; k < length; ++k)
        sum += layout_.values[place + 32 * k] * __ldcg(twin + layout_.columns[place + 32 * k]);
      y[first_ + i] = sum;
      dot += sum * x[first_ + i];
    }
    return dot;
  }

  // Returns when every block has called it, with what they wrote before visible.
  __device__ void arrive() {
    ++arrivals_;
    __syncthreads();
    if (threadIdx.x == 0)
      asm volatile(
          "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(a_.flags + blockIdx.x),
          "r"(arrivals_)
          : "memory");
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      unsigned seen = 0;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                     : "=r"(seen)
                     : "l"(a_.flags + b)
                     : "memory");
      } while (seen < arrivals_);
    }
    __syncthreads();
  }

  // A number in two halves, each beside its flag: halves of 8 bytes are written and read whole.
  __device__ void send(uint4* word, double value) const {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(word),
                 "r"(static_cast<unsigned>(bits)), "r"(epoch_),
                 "r"(static_cast<unsigned>(bits >> 32)), "r"(epoch_)
                 : "memory");
  }
  __device__ double receive(const uint4* word) const {
    unsigned low, low_flag, high, high_flag;
    do {
      asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(low), "=r"(low_flag), "=r"(high), "=r"(high_flag)
                   : "l"(word)
                   : "memory");
    } while (low_flag != epoch_ || high_flag != epoch_);
    return __longlong_as_double(
        static_cast<long long>(static_cast<unsigned long long>(high) << 32 | low));
  }

  // The same bits in every lane.
  __device__ static double warp_total(double value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
      value += __shfl_xor_sync(kFullWarp, value, offset);
    return value;
  }

  __device__ void record(const State& s) const { publish(*a_.control, a_.history, s); }

  const PersistentArguments& a_;
  std::int64_t first_, last_;
  SharedLayout layout_{};
  double pending_[kMostExchanged] = {};
  int pending_count_ = 0;
  unsigned epoch_ = 0;  // of the sums; warp 0 only
  unsigned arrivals_ = 0;
};

}  // namespace trireme::resident
