// SPDX-License-Identifier: BSD-3-Clause
// Numbers in global memory that tell by themselves whether they have arrived: before it, all of
// their bits are set, as fill_nan() leaves them. That is a NaN which no arithmetic makes. A number
// is complete as soon as it is seen, so that no fence is needed beside it.
#pragma once

namespace trireme::factors {

constexpr long long kMissing = -1;

__device__ __forceinline__ bool has_arrived(double number) {
  return __double_as_longlong(number) != kMissing;
}
// The number that stands for `number` where it is on its way: NaN for every NaN.
__device__ __forceinline__ double as_sent(double number) {
  return has_arrived(number) ? number : __longlong_as_double(0x7ff8000000000000ll);
}

__device__ __forceinline__ double look_at(const double* from) {
  double number;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(number) : "l"(from) : "memory");
  return number;
}
__device__ __forceinline__ void send(double* to, double number) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(to), "d"(as_sent(number)) : "memory");
}

// Waits for the number; `seen` is what a first look has found.
__device__ __forceinline__ double wait_for(const double* from, double seen) {
  while (!has_arrived(seen)) seen = look_at(from);
  return seen;
}

}  // namespace trireme::factors
