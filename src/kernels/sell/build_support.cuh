// SPDX-License-Identifier: BSD-3-Clause
// What both CUDA builders of SELL use: whether FP32 holds the values.
#pragma once

#include <cstdint>
#include <type_traits>

namespace trireme::sell {
namespace {

// True where Stored cannot hold the value exactly.
template <class Stored, class Value>
__device__ bool changes(Value value) {
  if constexpr (std::is_same_v<Stored, float> && std::is_same_v<Value, double>)
    return !(static_cast<Value>(static_cast<Stored>(value)) == value);
  return false;
}

template <class Value>
__global__ void survey_values(std::int64_t nnz, const Value* values, std::int32_t* inexact) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  bool found = false;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; k < nnz;
       k += stride)
    found = found || changes<float>(values[k]);
  if (__any_sync(0xffffffffu, found) && threadIdx.x % 32 == 0) *inexact = 1;
}

}  // namespace
}  // namespace trireme::sell
