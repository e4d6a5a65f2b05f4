// SPDX-License-Identifier: BSD-3-Clause
// Runs a method's algorithm inside one kernel whose blocks stay for the whole solve.
//
//   Block b keeps rows [b R, (b+1) R), R = rows_per_block: their matrix entries (in slices of 32
//   rows, with entry k of a slice's rows side by side) and their part of every vector, in shared
//   memory. Blocks exchange elements of x and sums through grid_exchange.cuh or
//   cluster_exchange.cuh. All blocks hold the same scalars.
#pragma once

#include <cstdint>

#include "device/block_sum.cuh"
#include "solvers/executors/persistent_arguments.cuh"
#include "solvers/methods/common_passes.hpp"

namespace trireme::solvers {

// `scalars` is the number of elements of State::scalar that the method uses.
template <class Exchange, int scalars>
class PersistentExecutor {
 public:
  static constexpr bool has_row_weights = false;

  __device__ __forceinline__ PersistentExecutor(const PersistentArguments& a, char* shared)
      : a_(a),
        exchange_(a, shared),
        first_(blockIdx.x * a.rows_per_block),
        last_(min(a.rows, first_ + a.rows_per_block)) {
    lay_out(shared);
    load_matrix();
  }

  // The block's part of vector k, indexed by global row.
  __device__ __forceinline__ double* vector(int k) const {
    return layout_.vectors + k * a_.rows_per_block - first_;
  }
  // The block has the rows first() .. last() - 1.
  __device__ __forceinline__ std::int64_t first() const { return first_; }
  __device__ __forceinline__ std::int64_t last() const { return last_; }

  __device__ __forceinline__ std::int64_t rows() const { return a_.rows; }
  __device__ __forceinline__ bool running() const { return solvers::running(shared_state()); }
  __device__ __forceinline__ bool needs_true_residual() const {
    return solvers::needs_true_residual(shared_state());
  }

  __device__ __forceinline__ bool can_go_on() const { return solvers::can_go_on(shared_state()); }

  // False: the matrix in shared memory is in FP64.
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
    if (Pass::always || live(shared_state())) {
      const State s = shared_state();
      constexpr int rows_in_flight = Exchange::rows_in_flight;
      for (std::int64_t i = first_ + threadIdx.x; i < last_; i += rows_in_flight * blockDim.x) {
        typename Pass::Row row[rows_in_flight];
#pragma unroll
        for (int k = 0; k < rows_in_flight; ++k)
          if (i + k * blockDim.x < last_) row[k] = pass.load(i + k * blockDim.x);
#pragma unroll
        for (int k = 0; k < rows_in_flight; ++k)
          if (i + k * blockDim.x < last_) {
            pass.update(row[k], s, sums);
            pass.store(i + k * blockDim.x, row[k]);
          }
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

  // Warp 0 adds up the sums of the block, and then those of all blocks. Thread 0 applies the step.
  template <class Step>
  __device__ __forceinline__ void finish(const Step& step) {
    const int count = pending_count_;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < kMaxExchanged; ++k)
      if (k < count) {
        const double sum = warp_sum(pending_[k]);
        if (lane == 0) warp_sums(k)[warp] = sum;
      }
    __syncthreads();
    double sums[kMaxExchanged];
    bool asks = false;  // every 16th iteration, block 0 sends the wish to stop to all blocks
    if (warp == 0) {
      asks = Step::ends_iteration && (shared_state().iterations & 15) == 15;
#pragma unroll
      for (int k = 0; k < kMaxExchanged; ++k)
        if (k < count) {
          sums[k] = lane < blockDim.x / 32 ? warp_sums(k)[lane] : 0.0;
#pragma unroll
          for (int offset = 16; offset > 0; offset /= 2)
            sums[k] += __shfl_xor_sync(kFullWarp, sums[k], offset);
        }
      const bool stop =
          asks && blockIdx.x == 0 && *static_cast<volatile std::int32_t*>(&a_.control->stop) != 0;
      exchange_.offer_sums(sums, count, asks, stop);
    }
    exchange_.meet();
    if (warp == 0) {
      const bool stop_asked = exchange_.collect_sums(sums, count, asks);
      if (lane == 0) {
        State s = shared_state();  // a copy in registers, so that the step waits for no load
        const bool ended = apply(s, step, sums, stop_asked);
        // Only the scalars that a step may change are stored, which saves registers.
        static_cast<Progress&>(shared_state()) = s;
#pragma unroll
        for (int k = 0; k < scalars; ++k) shared_state().scalar[k] = s.scalar[k];
        if (ended && blockIdx.x == 0) publish(*a_.control, a_.history, s);
      }
    }
    __syncthreads();
    pending_count_ = 0;
  }

  // Must be called by every thread of every block before the algorithm runs.
  __device__ __forceinline__ void begin() {
    if (threadIdx.x == 0) {
      shared_state() = a_.initial;
      if (blockIdx.x == 0) begin(*a_.control);
    }
    __syncthreads();
  }
  // Tells the host that the solve has ended. Must be called by every thread of every block, after
  // the solution has been written to global memory.
  __device__ __forceinline__ void end() {
    exchange_.close();
    if (blockIdx.x != 0) return;
    __syncthreads();
    const std::int64_t published = a_.control->published;
    const std::int64_t first = published > kResultNorms ? published - kResultNorms : 0;
    for (std::int64_t k = first + threadIdx.x; k < published; k += blockDim.x)
      a_.result->norms[k % kResultNorms] = a_.history.norms[k & (a_.history.capacity - 1)];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x != 0) return;
    a_.control->state = shared_state();
    a_.result->state = shared_state();
    a_.result->published = published;
    __threadfence_system();
    *static_cast<volatile std::int64_t*>(&a_.result->serial) = a_.serial;
  }

 private:
  static constexpr int kInFlight = 8;  // elements of x that a row's thread gathers at once

  __device__ __forceinline__ static State& shared_state() {
    __shared__ State state;
    return state;
  }

  __device__ __forceinline__ static double* warp_sums(int k) {
    __shared__ double sums[kMaxExchanged][32];
    return sums[k];
  }
  __device__ __forceinline__ void begin(Control& control) const {
    control.state = a_.initial;
    control.published = 0;
    control.stop = 0;
    __threadfence();
    *static_cast<volatile std::int64_t*>(&control.serial) = a_.serial;
  }

  __device__ __forceinline__ void lay_out(char* shared) {
    const std::int64_t r = a_.rows_per_block;
    layout_.vectors = reinterpret_cast<double*>(shared);
    layout_.values = layout_.vectors + a_.vectors * r;
    layout_.columns = reinterpret_cast<std::int32_t*>(layout_.values + a_.entries);
    layout_.lengths = layout_.columns + a_.entries;
    layout_.slice_starts = layout_.lengths + r;
  }

  // Brings the block's part of the matrix into shared memory. Entry k of the block's row i is at
  // slice_starts[i / 32] + 32 k + i % 32. A column that the block owns is stored relative to the
  // block's first row; any other column is stored as the exchange's negative code.
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
      const std::int32_t longest =
          (layout_.slice_starts[i / 32 + 1] - layout_.slice_starts[i / 32]) / 32;
      for (std::int32_t k = layout_.lengths[i]; k < longest; ++k)
        layout_.columns[place + 32 * k] = 0;  // padding, which multiply() gathers but does not use
      for (std::int32_t k = 0; k < layout_.lengths[i]; ++k) {
        const std::int32_t column = a_.col_idx[begin + k];
        const bool own_column = column >= first_ && column < last_;
        layout_.columns[place + 32 * k] =
            own_column ? static_cast<std::int32_t>(column - first_) : exchange_.code_of(column);
        layout_.values[place + 32 * k] = a_.matrix_values[begin + k];
      }
    }
    __syncthreads();
  }

  // y = A x. Returns this thread's part of x.y.
  __device__ __forceinline__ double multiply(const double* x, double* y) {
    exchange_.offer_vector(x, first_, last_);
    double dot = 0;
    const double* const own_x = x + first_;
    const int own = static_cast<int>(last_ > first_ ? last_ - first_ : 0);
    for (int i = threadIdx.x; i < own; i += blockDim.x) {
      const std::int32_t length = layout_.lengths[i];
      const std::int32_t start = layout_.slice_starts[i / 32];
      const std::int32_t longest = (layout_.slice_starts[i / 32 + 1] - start) / 32;
      const std::int32_t place = start + i % 32;
      double sum = 0;
      for (int k = 0; k < longest; k += kInFlight) {  // the same rounds for all rows of the slice
        std::int32_t columns[kInFlight];
        double gathered[kInFlight];
#pragma unroll
        for (int j = 0; j < kInFlight; ++j)
          columns[j] = k + j < longest ? layout_.columns[place + 32 * (k + j)] : 0;
#pragma unroll
        for (int j = 0; j < kInFlight; ++j) gathered[j] = exchange_.read(own_x, columns[j]);
#pragma unroll
        for (int j = 0; j < kInFlight; ++j)
          if (k + j < length) sum += layout_.values[place + 32 * (k + j)] * gathered[j];
      }
      y[first_ + i] = sum;
      dot += sum * own_x[i];
    }
    return dot;
  }

  const PersistentArguments& a_;
  Exchange exchange_;
  std::int64_t first_, last_;
  SharedLayout layout_{};
  double pending_[kMaxExchanged] = {};
  int pending_count_ = 0;
};

}  // namespace trireme::solvers
