// SPDX-License-Identifier: BSD-3-Clause
// How a warp gets the numbers of its slices: one chunk of a few steps at a time. LoadedChunks loads
// a chunk into registers when it is needed. FetchedChunks copies it into shared memory ahead of
// time by asynchronous copies: these take no registers while they are in flight and continue from
// one slice to the next, but they take space of the L1 cache that would hold gathered entries of x.
// The differences of patterns (patterned_rows.cuh) come from the L1 cache in both cases.
#pragma once

#include <cuda_pipeline.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/sell/patterned_rows.cuh"
#include "kernels/sell/slices.cuh"
#include "kernels/sell/tuning.hpp"

namespace trireme::sell {

template <int lane_rows, class Column>
__device__ Pack<lane_rows, Column> no_columns() {
  Pack<lane_rows, Column> none;
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) none.of_row[r] = static_cast<Column>(-1);
  return none;
}

// The columns of one lane in one step, where each step has its own.
template <int lane_rows, class Column>
struct StoredColumns {
  Pack<lane_rows, Column> offsets;
  std::int32_t base;

  __device__ bool has(int r) const { return offsets.of_row[r] != static_cast<Column>(-1); }
  __device__ std::int32_t of(int r) const { return base + offsets.of_row[r]; }
};

// All lanes of the warp call each function of both classes.
template <int lane_rows, class Stored, class Column>
class LoadedChunks {
 public:
  struct Memory {};
  static constexpr int kSteps = kChunkSteps<lane_rows>;

  __device__ LoadedChunks(const Slices<Stored, Column>& a, Memory*, std::int32_t, std::int32_t)
      : a_(a) {}

  // Begins a slice; rows[r] is the caller's row of row r of this lane.
  __device__ __forceinline__ void begin(std::int32_t slice, const std::int32_t (&rows)[lane_rows]) {
    if constexpr (kIsPatterned<Column>)
      patterns_.begin(a_, load_patterns<lane_rows>(a_, slice), rows);
  }
  // Loads the steps [step, end) of the slice, or the first kSteps of them.
  __device__ __forceinline__ void next(std::int32_t step, std::int32_t end) {
    const std::int64_t first =
        (static_cast<std::int64_t>(step) * kLanes + threadIdx.x % kLanes) * lane_rows;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const bool there = step + s < end;  // the same for the whole warp
      if (there) values_[s] = load_pack<lane_rows>(a_.values + first + s * kLanes * lane_rows);
      if constexpr (!kIsPatterned<Column>) {
        columns_[s] = there ? load_pack<lane_rows>(a_.columns + first + s * kLanes * lane_rows)
                            : no_columns<lane_rows, Column>();
        bases_[s] = kIsNarrow<Column> && there ? __ldg(a_.base + step + s) : 0;
      }
    }
    if constexpr (kIsPatterned<Column>) patterns_.next();
  }
  __device__ auto columns(int s) const {
    if constexpr (kIsPatterned<Column>)
      return patterns_.columns(s);
    else
      return StoredColumns<lane_rows, Column>{columns_[s], bases_[s]};
  }
  __device__ Pack<lane_rows, Stored> values(int s) const { return values_[s]; }

 private:
  const Slices<Stored, Column>& a_;
  Pack<lane_rows, Column> columns_[kSteps];
  Pack<lane_rows, Stored> values_[kSteps];
  std::int32_t bases_[kSteps];
  PatternedRows<kIsPatterned<Column> ? lane_rows : 0, kSteps> patterns_;
};

template <int lane_rows, class Stored, class Column>
class FetchedChunks {
 public:
  static constexpr int kSteps = kChunkSteps<lane_rows>;
  static constexpr int kSize = kLanes * lane_rows;  // numbers per step
  static constexpr int kChunks = 2;                 // one in use, the other in flight

  // Where rows have patterns, a chunk has values only.
  static constexpr int kColumns = kIsPatterned<Column> ? 0 : kSteps;  // steps with columns

  struct Chunk {
    alignas(16) Stored values[kSteps * kSize];
    alignas(16) Column columns[kColumns * kSize + kIsPatterned<Column>];
    std::int32_t base[kColumns + kIsPatterned<Column>];
  };
  struct Memory {
    Chunk chunks[kChunks];
  };

  // The warp takes the slices first, first + stride, ..
  __device__ FetchedChunks(const Slices<Stored, Column>& a, Memory* memory, std::int32_t first,
                           std::int32_t stride)
      : a_(a), memory_(memory), next_slice_(first), stride_(stride) {
    look_ahead();
    if constexpr (kIsPatterned<Column>) next_patterns_ = load_patterns<lane_rows>(a_, first);
    go_to_next_slice();
#pragma unroll
    for (int k = 1; k < kChunks; ++k) fetch();
  }

  // Begins a slice; rows[r] is the caller's row of row r of this lane. The patterns of the slice
  // after it are loaded ahead.
  __device__ __forceinline__ void begin(std::int32_t slice, const std::int32_t (&rows)[lane_rows]) {
    if constexpr (kIsPatterned<Column>) {
      patterns_.begin(a_, next_patterns_, rows);
      next_patterns_ = load_patterns<lane_rows>(a_, slice + stride_);
    }
  }

  // Moves on to the next chunk. The chunks come in the order of the slices; the arguments only tell
  // how many steps the chunk has. A slice without steps has no chunk.
  __device__ __forceinline__ void next(std::int32_t step, std::int32_t end) {
    steps_ = end - step;
    __pipeline_wait_prior(kChunks - 2);
    __syncwarp();  // The copies of all lanes have arrived, and no lane reads the chunk before.
    fetch();
    used_ = used_ + 1 == kChunks ? 0 : used_ + 1;
    if constexpr (kIsPatterned<Column>) patterns_.next();
  }
  __device__ auto columns(int s) const {
    if constexpr (kIsPatterned<Column>) {
      return patterns_.columns(s);
    } else {
      const Chunk& chunk = memory_->chunks[used_];
      return StoredColumns<lane_rows, Column>{
          s < steps_ ? pack(chunk.columns, s) : no_columns<lane_rows, Column>(), chunk.base[s]};
    }
  }
  __device__ Pack<lane_rows, Stored> values(int s) const {
    return pack(memory_->chunks[used_].values, s);
  }

 private:
  template <class T>
  static __device__ Pack<lane_rows, T> pack(const T* numbers, int s) {
    return reinterpret_cast<const Pack<lane_rows, T>*>(numbers)[s * kLanes + threadIdx.x % kLanes];
  }

  // Loads the begin and the end of the next slice, one slice ahead of their use.
  __device__ void look_ahead() {
    next_begin_ = next_end_ = 0;
    if (next_slice_ < a_.count) {
      next_begin_ = a_.slice_ptr[next_slice_];
      next_end_ = a_.slice_ptr[next_slice_ + 1];
    }
  }

  // Goes to the next slice that has steps, if there is one.
  __device__ void go_to_next_slice() {
    do {
      step_ = next_begin_;
      end_ = next_end_;
      if (next_slice_ >= a_.count) return;
      next_slice_ += stride_;
      look_ahead();
    } while (step_ >= end_);
  }

  template <class T, std::size_t size>
  static __device__ void copy(T (&to)[size], const T* from, int steps) {
    constexpr int kWidth = 16;  // bytes per copy of a lane
    const auto bytes = static_cast<int>(steps * kSize * sizeof(T));
#pragma unroll
    for (int at = 0; at < static_cast<int>(sizeof(to)); at += kWidth * kLanes) {
      const int mine = at + static_cast<int>(threadIdx.x % kLanes) * kWidth;
      if (mine < bytes)
        __pipeline_memcpy_async(reinterpret_cast<char*>(to) + mine,
                                reinterpret_cast<const char*>(from) + mine, kWidth);
    }
  }

  __device__ __forceinline__ void fetch() {
    if (step_ < end_) {
      Chunk& to = memory_->chunks[filled_];
      const int steps = min(kSteps, end_ - step_);
      const std::int64_t first = static_cast<std::int64_t>(step_) * kSize;
      copy(to.values, a_.values + first, steps);
      if constexpr (!kIsPatterned<Column>) {
        copy(to.columns, a_.columns + first, steps);
        const int lane = threadIdx.x % kLanes;
        if (lane < steps)
          __pipeline_memcpy_async(to.base + lane, a_.base + step_ + lane, sizeof(std::int32_t));
      }
      step_ += kSteps;
      if (step_ >= end_) go_to_next_slice();
    }
    __pipeline_commit();  // Also without a copy, because next() waits by the number of commits.
    filled_ = filled_ + 1 == kChunks ? 0 : filled_ + 1;
  }

  const Slices<Stored, Column>& a_;
  Memory* memory_;
  std::int32_t next_slice_, stride_;
  std::int32_t next_begin_, next_end_;
  std::int32_t step_ = 0, end_ = 0;  // the steps of this slice that are still to be fetched
  int filled_ = 0, used_ = kChunks - 1, steps_ = 0;
  PatternedRows<kIsPatterned<Column> ? lane_rows : 0, kSteps> patterns_;
  Pack<lane_rows, PatternId> next_patterns_{};
};

template <bool ahead, int lane_rows, class Stored, class Column>
using Chunks = std::conditional_t<ahead, FetchedChunks<lane_rows, Stored, Column>,
                                  LoadedChunks<lane_rows, Stored, Column>>;

}  // namespace trireme::sell
