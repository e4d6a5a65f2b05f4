// SPDX-License-Identifier: BSD-3-Clause
// How CUDA executors read, sum and write each value type. Numbers of FP16 are summed in FP32, those
// of FP32 in FP64: sums in FP32 cost Krylov methods up to a half more iterations.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "base/half.hpp"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "device/span.hpp"

namespace trireme {

// The type in which values of type Value are summed.
template <class Value>
struct SumOf {
  using type = Value;
};
template <>
struct SumOf<float> {
  using type = double;
};
template <>
struct SumOf<Half> {
  using type = float;
};
template <class Value>
using Sum = typename SumOf<Value>::type;

// Loads through the read-only cache.
template <class To, class From>
__device__ __forceinline__ To load(const From* address) {
  return static_cast<To>(__ldg(address));
}
template <class To>
__device__ __forceinline__ To load(const Half* address) {
  return static_cast<To>(__half2float(__ldg(reinterpret_cast<const __half*>(address))));
}

// Loads data that a product reads only once. It is the first to be evicted from the caches, so that
// x stays there.
template <class To, class From>
__device__ __forceinline__ To load_once(const From* address) {
  return static_cast<To>(__ldcs(address));
}
template <class To>
__device__ __forceinline__ To load_once(const Half* address) {
  return static_cast<To>(__half2float(__ldcs(reinterpret_cast<const __half*>(address))));
}

template <class Value, class From>
__device__ __forceinline__ void store(Value* address, From value) {
  *address = static_cast<Value>(value);
}
template <class From>
__device__ __forceinline__ void store(Half* address, From value) {
  *reinterpret_cast<__half*>(address) = __float2half_rn(value);
}

// `sum` of a row of A x, and the term of CudaKernel::add_diagonal().
template <class Number, class Vector>
__device__ __forceinline__ Number with_diagonal(Number sum, const float* diagonal, const Vector* x,
                                                std::int64_t row) {
  return diagonal ? sum + load<Number>(diagonal + row) * load<Number>(x + row) : sum;
}

// Stores sum in *address, or adds it to *address.
template <class Value, class From>
__device__ __forceinline__ void store_or_add(Value* address, From sum, bool add) {
  if (add) sum += load<From>(address);
  store(address, sum);
}

namespace detail {
template <class To, class From>
__global__ void convert(const From* from, To* to, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride)
    store(to + i, load<Sum<To>>(from + i));
}
}  // namespace detail

// Rounds the elements of `from` into `to`, which is at least as long. Asynchronous in `stream`.
template <class To, class From>
void convert(DeviceSpan<const From> from, DeviceSpan<To> to, StreamRef stream) {
  if (from.empty()) return;
  const auto count = static_cast<std::int64_t>(from.size());
  const std::int64_t most = std::int64_t{multiprocessors()} * 16;
  const auto blocks = static_cast<int>(std::min((count + 255) / 256, most));
  detail::convert<<<blocks, 256, 0, stream>>>(from.data(), to.data(), count);
  check_launch();
}

}  // namespace trireme
