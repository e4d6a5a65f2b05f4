// SPDX-License-Identifier: BSD-3-Clause
// The arguments, streaming loads, gathers and output of a DASP product on the GPU.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "kernels/dasp/plan.hpp"
#include "kernels/numeric.cuh"

namespace trireme::dasp {

// The type that device code computes with: __half for Half, Value itself otherwise.
template <class Value>
using Native = std::conditional_t<std::is_same_v<Value, Half>, __half, Value>;
// The entries of one part of the layout. cid holds columns in 32 bits; offset holds those of near
// tasks in 16 bits.
template <class Stored>
struct Part {
  const Stored* val;
  const std::int32_t* cid;
  const std::uint16_t* offset;
};

__device__ __forceinline__ Task load_task(const Task* from) {
  const int4 words = __ldg(reinterpret_cast<const int4*>(from));
  return {static_cast<std::uint32_t>(words.x), words.y, words.z, words.w};
}

template <class Stored, class Vector>
struct Product {
  using Accumulator = Sum<std::conditional_t<std::is_same_v<Vector, __half>, Half, Vector>>;

  Part<Stored> long_rows;
  Part<Stored> regular;
  Part<Stored> irregular;
  Part<Stored> short_rows;
  const std::int32_t* rowblock_ptr;
  const std::int32_t* irreg_ptr;
  const std::int32_t* row_order;
  const Task* tasks;
  const std::int32_t* column_base;    // one per task; null where no task is near
  const std::uint32_t* same_columns;  // one per task; null where few rows share columns
  const std::int32_t* long_task_ptr;
  Accumulator* partials;   // one per task of long rows
  std::uint32_t* tickets;  // per long row: the number of its finished tasks; 0 between products
  std::int32_t task_count;
  std::int32_t tasks_per_block;
  std::int32_t first_medium;
  std::int64_t first_one;    // index of the first single entry in short_rows
  std::int32_t heavy_tasks;  // the first tasks, one per warp
  std::int32_t heavy_blocks;
  bool add;
  double* dot_partials;  // one per block, then one per long row; null without a dot product
  const Vector* x;
  Vector* y;
  const float* diagonal;  // null, or see CudaKernel::add_diagonal()

  __device__ std::int32_t caller_row(const Task& task, std::int32_t item) const {
    return task.consecutive() ? task.row + item : __ldg(row_order + task.row + item);
  }
};

// Stores the sums of rows in y. With with_dot it also collects this lane's share of the dot product
// of x and y.
template <bool with_dot, class Stored, class Vector>
class Output {
 public:
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  __device__ explicit Output(const Product<Stored, Vector>& p) : p_(p) {}

  __device__ void put(std::int32_t row, Accumulator sum) {
    sum = with_diagonal(row, sum);
    write(row, sum);
    if constexpr (with_dot) dot_ += product_with_x(row, sum);
  }
  // Stores the sum of long row `number`. Its term of the dot product has a place of its own,
  // because which task, and so which block, finishes the row differs from run to run.
  __device__ void put_long(std::int32_t number, Accumulator sum) {
    const std::int32_t row = __ldg(p_.row_order + number);
    sum = with_diagonal(row, sum);
    write(row, sum);
    if constexpr (with_dot) p_.dot_partials[gridDim.x + number] = product_with_x(row, sum);
  }
  __device__ double dot() const { return dot_; }

 private:
  __device__ void write(std::int32_t row, Accumulator sum) const {
    if constexpr (std::is_same_v<Vector, __half>) {
      if (p_.add) sum += __half2float(p_.y[row]);
      p_.y[row] = __float2half_rn(sum);
    } else {
      p_.y[row] = static_cast<Vector>(p_.add ? p_.y[row] + sum : sum);
    }
  }
  __device__ Accumulator with_diagonal(std::int32_t row, Accumulator sum) const {
    if (!p_.diagonal) return sum;
    return sum + __ldg(p_.diagonal + row) * static_cast<Accumulator>(__ldg(p_.x + row));
  }
  __device__ double product_with_x(std::int32_t row, Accumulator sum) const {
    return static_cast<double>(sum) *
           static_cast<double>(static_cast<Accumulator>(__ldg(p_.x + row)));
  }

  const Product<Stored, Vector>& p_;
  double dot_ = 0;
};

// stream(from, to) loads n consecutive numbers with as few instructions as possible, marked as
// first to be evicted from the caches.
__device__ __forceinline__ void stream(const double* from, double (&to)[2]) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(from));
  to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void stream(const double* from, double (&to)[4]) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(from));
  const double2 w = __ldcs(reinterpret_cast<const double2*>(from) + 1);
  to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}
__device__ __forceinline__ void stream(const float* from, float (&to)[4]) {
  const float4 v = __ldcs(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void stream(const std::int32_t* from, std::int32_t (&to)[2]) {
  const int2 v = __ldcs(reinterpret_cast<const int2*>(from));
  to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void stream(const std::int32_t* from, std::int32_t (&to)[4]) {
  const int4 v = __ldcs(reinterpret_cast<const int4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void stream(const __half* from, __half (&to)[4]) {
  const uint2 v = __ldcs(reinterpret_cast<const uint2*>(from));
  to[0] = __ushort_as_half(static_cast<unsigned short>(v.x));
  to[1] = __ushort_as_half(static_cast<unsigned short>(v.x >> 16));
  to[2] = __ushort_as_half(static_cast<unsigned short>(v.y));
  to[3] = __ushort_as_half(static_cast<unsigned short>(v.y >> 16));
}
__device__ __forceinline__ void stream(const std::uint16_t* from, std::uint16_t (&to)[2]) {
  const unsigned v = __ldcs(reinterpret_cast<const unsigned*>(from));
  to[0] = static_cast<std::uint16_t>(v), to[1] = static_cast<std::uint16_t>(v >> 16);
}
__device__ __forceinline__ void stream(const std::uint16_t* from, std::uint16_t (&to)[4]) {
  const uint2 v = __ldcs(reinterpret_cast<const uint2*>(from));
  to[0] = static_cast<std::uint16_t>(v.x), to[1] = static_cast<std::uint16_t>(v.x >> 16);
  to[2] = static_cast<std::uint16_t>(v.y), to[3] = static_cast<std::uint16_t>(v.y >> 16);
}
template <class Number>
__device__ __forceinline__ void stream(const Number* from, Number (&to)[1]) {
  to[0] = __ldcs(from);
}

// n entries of a row: values, columns, and entries of x. Only the first `count` of them exist.
template <class Stored, class Vector, int n>
struct Entries {
  Stored value[n];
  std::int32_t column[n];
  Vector x[n];

  // Loads n consecutive entries, or zeros. `count` is n or 0.
  template <bool near_task>
  __device__ void load(const Part<Stored>& from, std::int64_t at, std::int32_t base, int count) {
    if (count == 0) return clear();
    stream(from.val + at, value);
    if constexpr (near_task) {
      std::uint16_t offset[n];
      stream(from.offset + at, offset);
#pragma unroll
      for (int i = 0; i < n; ++i) column[i] = base + offset[i];
    } else {
      stream(from.cid + at, column);
    }
  }
  // The same for entries whose columns are consecutive.
  __device__ void load_values(const Part<Stored>& from, std::int64_t at, std::int32_t first_column,
                              int count) {
    if (count == 0) return clear();
    stream(from.val + at, value);
#pragma unroll
    for (int i = 0; i < n; ++i) column[i] = first_column + i;
  }
  // Gathers x. Where the entries may be padded, a value of 0 reads no x.
  template <bool padded>
  __device__ void gather(const Vector* from, int count) {
#pragma unroll
    for (int i = 0; i < n; ++i)
      x[i] = i < count && (!padded || value[i] != Stored(0)) ? __ldg(from + column[i]) : Vector(0);
  }

 private:
  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < n; ++i) value[i] = Stored(0), column[i] = 0;
  }
};

template <class Accumulator, class Stored, class Vector, int n>
__device__ __forceinline__ Accumulator dot(const Entries<Stored, Vector, n>& e, int first,
                                           int last) {
  Accumulator sum = 0;
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (i >= first && i < last)
      sum += static_cast<Accumulator>(e.value[i]) * static_cast<Accumulator>(e.x[i]);
  return sum;
}

}  // namespace trireme::dasp
