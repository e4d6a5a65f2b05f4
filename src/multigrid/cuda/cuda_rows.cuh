// SPDX-License-Identifier: BSD-3-Clause
// The product of the rows of cuda_rows.hpp within a CUDA kernel, with the update that ends a row.
//
// A lane has all loads of kBatch steps in flight before it uses the first, then all of their
// gathers, so that a chunk of rows with up to kBatch entries per lane waits for memory three times:
// for its place, its entries and the numbers of x. It waits for the first two while the step before
// still runs.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/block_sum.cuh"
#include "multigrid/cuda/cuda_rows.hpp"
#include "multigrid/cycle/cycle_step.hpp"

namespace trireme::multigrid {

inline constexpr int kWarp = 32;
inline constexpr int kPack = 4;   // rows per lane
inline constexpr int kBatch = 4;  // steps
inline constexpr std::int64_t kMaxNarrow = 65'535;

// The numbers of four neighbouring rows or of four entries of a step.
template <class T>
struct alignas(sizeof(T) * kPack < 16 ? sizeof(T) * kPack : 16) Pack {
  T of_row[kPack];
};

namespace detail {

// Entries that one product reads once: they leave the vectors their place in the caches.
template <class T>
__device__ __forceinline__ Pack<T> load_entries(const T* from) {
  constexpr int bytes = sizeof(Pack<T>);
  using Word = std::conditional_t<bytes == 8, uint2, uint4>;
  Word words[bytes / sizeof(Word)];
#pragma unroll
  for (int k = 0; k < static_cast<int>(bytes / sizeof(Word)); ++k)
    words[k] = __ldcs(reinterpret_cast<const Word*>(from) + k);
  Pack<T> pack;
  memcpy(&pack, words, bytes);
  return pack;
}

template <class Number, class Value>
__device__ __forceinline__ Number widened(Value value) {
  if constexpr (sizeof(Value) == 2)
    return __half2float(__ushort_as_half(value));
  else
    return value;
}

template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T>*>(from);
}
template <class T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T>& pack) {
  *reinterpret_cast<Pack<T>*>(to) = pack;
}

// Writes up to four rows of the caller's result, which may begin anywhere.
template <class Number>
__device__ __forceinline__ void give_rows(double* z, std::int64_t row, std::int64_t rows,
                                          const Pack<Number>& pack, double scale) {
  if (row + kPack <= rows && (reinterpret_cast<std::uintptr_t>(z) & 15) == 0) {
    Pack<double> wide;
#pragma unroll
    for (int r = 0; r < kPack; ++r) wide.of_row[r] = pack.of_row[r] * scale;
    return store_pack(z + row, wide);
  }
#pragma unroll
  for (int r = 0; r < kPack; ++r)
    if (row + r < rows) z[row + r] = pack.of_row[r] * scale;
}

}  // namespace detail

// The own numbers of four rows, which are loaded before their sums so that both are in flight at
// the same time. Vectors have room for whole packs.
template <StepKind kind, class Number>
struct OwnRows {
  static constexpr bool kSmooths = kind == StepKind::smooth;
  Pack<Number> x, b, w, last;
  bool has_w, has_last;

  __device__ __forceinline__ void load(const StepDataOf<Number>& s, std::int64_t row) {
    has_w = kSmooths || (kind == StepKind::product && s.kept);
    has_last = kSmooths && s.last;
    if constexpr (kind == StepKind::residual || kSmooths) b = detail::load_pack(s.b + row);
    if constexpr (kind == StepKind::correct) x = detail::load_pack(s.to + row);
    if constexpr (kSmooths) x = detail::load_pack(s.x + row);
    if (has_w) w = detail::load_pack(s.w + row);
    if (has_last) last = detail::load_pack(s.last + row);
  }
  __device__ __forceinline__ StepRow<Number> row(int r) const {
    StepRow<Number> one;
    if constexpr (kind == StepKind::residual || kSmooths) one.b = b.of_row[r];
    if constexpr (kind == StepKind::correct || kSmooths) one.x = x.of_row[r];
    if (has_w) one.w = w.of_row[r];
    if (has_last) one.last = last.of_row[r];
    return one;
  }
};

// The entries of up to kBatch steps, for one lane.
template <class Value, class Column>
struct Entries {
  Pack<Column> column[kBatch];
  Pack<Value> value[kBatch];
  std::int32_t first[kBatch];

  // Loads the steps from `step` on, but none from `end` on.
  __device__ __forceinline__ void load(const RowsView& a, std::int32_t step, std::int32_t end) {
    const std::int64_t place =
        (static_cast<std::int64_t>(step) * kWarp + threadIdx.x % kWarp) * kPack;
    const Column* const columns = static_cast<const Column*>(a.columns) + place;
    const Value* const values = static_cast<const Value*>(a.values) + place;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      first[k] = 0;
      column[k] = {};
      value[k] = {};
      if (step + k >= end) continue;  // the same for the whole warp
      column[k] = detail::load_entries(columns + k * kWarp * kPack);
      value[k] = detail::load_entries(values + k * kWarp * kPack);
      if constexpr (sizeof(Column) == 2) first[k] = __ldg(a.first + step + k);
    }
  }
  // The same where some of the steps have their columns among the wide ones.
  template <class Number>
  __device__ __forceinline__ void add_wide_products(const std::int32_t* wide_columns,
                                                    const Number* x, Number (&sums)[kPack]) const {
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
#pragma unroll
      for (int r = 0; r < kPack; ++r) {
        const std::int64_t place =
            (static_cast<std::int64_t>(~first[k]) * kWarp + threadIdx.x % kWarp) * kPack + r;
        const std::int32_t own = first[k] < 0
                                     ? wide_columns[place]
                                     : first[k] + static_cast<std::int32_t>(column[k].of_row[r]);
        sums[r] += detail::widened<Number>(value[k].of_row[r]) * x[own];
      }
  }
  // Adds the products with x to the sums of the lane's rows.
  template <class Number>
  __device__ __forceinline__ void add_products(const std::int32_t* wide_columns, const Number* x,
                                               Number (&sums)[kPack]) const {
    if constexpr (sizeof(Column) == 2) {
      std::int32_t wide = 0;
#pragma unroll
      for (int k = 0; k < kBatch; ++k) wide |= first[k];
      if (wide < 0) return add_wide_products(wide_columns, x, sums);  // the same for the whole warp
    }
    Number of_x[kBatch][kPack];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
#pragma unroll
      for (int r = 0; r < kPack; ++r)
        of_x[k][r] = x[first[k] + static_cast<std::int32_t>(column[k].of_row[r])];
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
#pragma unroll
      for (int r = 0; r < kPack; ++r)
        sums[r] += detail::widened<Number>(value[k].of_row[r]) * of_x[k][r];
  }
};

// Multiplies the rows of a chunk and ends them as `kind` says. Called by a whole warp. Vectors are
// read after wait(), and the matrix, which no step writes, before it. `scale` is a function that is
// called after wait() and returns the factor of the caller's result.
template <StepKind kind, class Value, class Column, class Number, class Wait, class Scale>
__device__ __forceinline__ void multiply_chunk(const RowsView& a, const StepDataOf<Number>& s,
                                               std::int32_t chunk, const Wait& wait,
                                               const Scale& scale) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int lanes = 1 << a.lanes_shift;
  std::int32_t step = __ldg(a.step_ptr + chunk);
  const std::int32_t end = __ldg(a.step_ptr + chunk + 1);
  const std::int64_t row =
      (static_cast<std::int64_t>(chunk) * (kWarp >> a.lanes_shift) + (lane >> a.lanes_shift)) *
      kPack;
  const bool ends_rows = (lane & (lanes - 1)) == 0 && row < a.rows;
  Entries<Value, Column> entries;
  entries.load(a, step, end);
  wait();
  OwnRows<kind, Number> own;
  if (ends_rows) own.load(s, row);
  Number sums[kPack] = {};
  if (step < end) entries.add_products(a.wide_columns, s.x, sums);
  for (step += kBatch; step < end; step += kBatch) {
    entries.load(a, step, end);
    entries.add_products(a.wide_columns, s.x, sums);
  }
#pragma unroll
  for (int r = 0; r < kPack; ++r) {
    if constexpr (sizeof(Value) == 2) sums[r] *= a.factor;
    for (int offset = lanes / 2; offset > 0; offset /= 2)
      sums[r] += __shfl_down_sync(kFullWarp, sums[r], offset, lanes);
  }
  if (!ends_rows) return;

  Pack<Number> to, d, kept;
#pragma unroll
  for (int r = 0; r < kPack; ++r) {
    const StepResult<Number> result = end_row<kind>(s, own.row(r), sums[r]);
    to.of_row[r] = result.to;
    d.of_row[r] = result.d;
    kept.of_row[r] = result.kept;
  }
  if constexpr (kind == StepKind::smooth) {
    if (s.d) detail::store_pack(s.d + row, d);
    if (s.ends) return detail::give_rows(s.z, row, s.rows, to, scale());
  }
  if constexpr (kind == StepKind::product)
    if (s.kept) detail::store_pack(s.kept + row, kept);
  detail::store_pack(s.to + row, to);
}

}  // namespace trireme::multigrid
