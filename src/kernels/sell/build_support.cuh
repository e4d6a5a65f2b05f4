// SPDX-License-Identifier: BSD-3-Clause
// What both CUDA builders of SELL use: the workspace of CUB's functions, and whether FP32 holds the
// values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "device/buffer.hpp"
#include "device/check.hpp"

namespace trireme::sell {
namespace {

template <class Call>
void with_workspace(StreamRef stream, Call&& call) {
  std::size_t bytes = 0;
  cuda_check(call(nullptr, bytes));
  ScratchBuffer<std::byte> workspace(bytes, stream);
  cuda_check(call(workspace.data(), bytes));
}

void scan(const std::int32_t* from, std::int32_t* to, std::int64_t count, StreamRef stream) {
  with_workspace(stream, [&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, from, to, count, stream);
  });
}

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
