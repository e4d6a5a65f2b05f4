// SPDX-License-Identifier: BSD-3-Clause
// How a warp multiplies 8 x 4 blocks by x: on the matrix unit for FP64 and FP16, by fused
// multiply-add for FP32.
//
// Lane 4 g + q works for row g of the blocks. In step s it takes consecutive entries of that row:
//   two   of block 2 s + q / 2  (FP64: one load of 16 bytes of values), or
//   four  of block 4 s + q      (FP32, FP16).
// The lane gathers the entries of x that belong to them. In each matrix product
//   A[g][k] = a value of row g,  B[k][g] = its entry of x.
// The lane itself holds both, because the fragments of m8n8k4 and m16n8k16 place A[g][.] and
// B[.][g] in the same four lanes. The sum of row g is C[g][g], which lane 4 g + g / 2 holds. The
// other 56 entries of C are not used: the product is bound by memory, not by arithmetic.
#pragma once

#include <cuda_fp16.h>

#include "device/block_sum.cuh"

namespace trireme::dasp {

// Entries that a lane takes in one step.
template <class Stored>
inline constexpr int kLaneEntries = sizeof(Stored) == 8 ? 2 : 4;

struct Lane {
  int index = threadIdx.x % 32;
  int row = index / 4;      // g
  int quarter = index % 4;  // q
  // True for the lane that holds the sum of its row at the end.
  __device__ bool has_row_sum() const { return quarter == row / 2; }
};

// The following classes sum the rows of a warp. add(v, x) adds the products of the lane's entries
// of one step. Afterwards one of two functions is called:
//   row_sum() returns the sum of row g in the lane for which has_row_sum() is true;
//   total() returns the sum of all rows in lane 0.
template <class Accumulator>
class FmaSum {
 public:
  template <class Stored, class Vector, int n>
  __device__ void add(const Stored (&value)[n], const Vector (&x)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i)
      sum_ += static_cast<Accumulator>(value[i]) * static_cast<Accumulator>(x[i]);
  }
  __device__ Accumulator row_sum(const Lane&) const {
    Accumulator sum = sum_ + __shfl_xor_sync(kFullWarp, sum_, 1);
    return sum + __shfl_xor_sync(kFullWarp, sum, 2);
  }
  __device__ Accumulator total(const Lane&) const { return warp_sum(sum_); }

 private:
  Accumulator sum_ = 0;
};

class DoubleMmaSum {
 public:
  template <class Stored, int n>
  __device__ void add(const Stored (&value)[n], const double (&x)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const double a = static_cast<double>(value[i]);
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(c_[0]), "+d"(c_[1])
          : "d"(a), "d"(x[i]));
    }
  }
  __device__ double row_sum(const Lane& lane) const { return lane.row % 2 == 0 ? c_[0] : c_[1]; }
  __device__ double total(const Lane& lane) const {
    return warp_sum(lane.has_row_sum() ? row_sum(lane) : 0.0);
  }

 private:
  double c_[2] = {0, 0};
};

// m16n8k16 with zeros in rows 8 to 15 of A. The lane holds k = 2 q, 2 q + 1, 2 q + 8 and 2 q + 9.
class HalfMmaSum {
 public:
  __device__ void add(const __half (&value)[4], const __half (&x)[4]) {
    multiply(pack(value[0], value[1]), pack(value[2], value[3]), pack(x[0], x[1]),
             pack(x[2], x[3]));
  }
  __device__ void add(const __half (&value)[1], const __half (&x)[1]) {
    const __half zero = __ushort_as_half(0);
    multiply(pack(value[0], zero), 0, pack(x[0], zero), 0);
  }
  __device__ float row_sum(const Lane& lane) const { return lane.row % 2 == 0 ? c_[0] : c_[1]; }
  __device__ float total(const Lane& lane) const {
    return warp_sum(lane.has_row_sum() ? row_sum(lane) : 0.0f);
  }

 private:
  static __device__ unsigned pack(__half low, __half high) {
    return __half_as_ushort(low) | static_cast<unsigned>(__half_as_ushort(high)) << 16;
  }
  __device__ void multiply(unsigned a_low, unsigned a_high, unsigned b_low, unsigned b_high) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c_[0]), "+f"(c_[1]), "+f"(c_[2]), "+f"(c_[3])
        : "r"(a_low), "r"(0u), "r"(a_high), "r"(0u), "r"(b_low), "r"(b_high));
  }

  float c_[4] = {0, 0, 0, 0};
};

}  // namespace trireme::dasp
