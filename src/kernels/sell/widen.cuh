// SPDX-License-Identifier: BSD-3-Clause
// Widens a stored number that is in a register; numeric.cuh does it for numbers in memory.
#pragma once

#include "kernels/numeric.cuh"

namespace trireme::sell {

template <class To, class From>
__device__ __forceinline__ To widen(From value) {
  return static_cast<To>(value);
}
template <class To>
__device__ __forceinline__ To widen(Half value) {
  return static_cast<To>(__half2float(__ushort_as_half(value.bits)));
}

}  // namespace trireme::sell
