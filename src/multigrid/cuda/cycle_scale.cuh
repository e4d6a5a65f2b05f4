// SPDX-License-Identifier: BSD-3-Clause
// The power of two by which the vectors of a cycle in FP32 are multiplied.
#pragma once

#include <cuda_runtime.h>

namespace trireme::multigrid {

// 2^(exponent - 1023).
__device__ __forceinline__ double power_of_two(int exponent) {
  return __hiloint2double(exponent << 20, 0);
}
// By which r is multiplied; 1 where all of r is 0 or some number is not finite. `exponent` is that
// of the largest number of r.
__device__ __forceinline__ double scale_of_r(int exponent) {
  constexpr int kBias = 1023;
  constexpr int kLargestExponent = 2046;  // of a finite number
  if (exponent <= 0 || exponent > kLargestExponent) return 1;
  return power_of_two(max(1, 2 * kBias - exponent));
}
// By which the result is multiplied.
__device__ __forceinline__ double scale_of_z(int exponent) { return 1 / scale_of_r(exponent); }

}  // namespace trireme::multigrid
