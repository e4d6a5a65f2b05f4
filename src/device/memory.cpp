// SPDX-License-Identifier: BSD-3-Clause
// Allocates device memory from the stream-ordered pool and pinned host memory, and copies.
#include "device/memory.hpp"

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/device.hpp"

namespace trireme::memory {
namespace {

std::string in_mb(std::size_t bytes) {
  return fmt::format("{:.1f} MB", 1e-6 * static_cast<double>(bytes));
}

}  // namespace

void* allocate_device(std::size_t bytes, StreamRef stream) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    const DeviceMemory now = device_memory();
    fail(ExitCode::resource,
         "GPU memory: {} are needed and {} of {} are free; use more GPUs, or a kernel that stores "
         "fewer bytes",
         in_mb(bytes), in_mb(now.free_bytes), in_mb(now.total_bytes));
  }
  cuda_check(status);
  return data;
}

void free_device_in_stream(void* data, StreamRef stream) noexcept { cudaFreeAsync(data, stream); }

void free_device(void* data) noexcept {
  cudaDeviceSynchronize();
  cudaFree(data);
}

void* allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  const cudaError_t status = cudaMallocHost(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    fail(ExitCode::resource, "pinned host memory: {} cannot be allocated; see ulimit -l",
         in_mb(bytes));
  }
  cuda_check(status);
  return data;
}

void free_pinned(void* data) noexcept { cudaFreeHost(data); }

void* device_address(void* pinned) {
  if (!pinned) return nullptr;
  void* address = nullptr;
  cuda_check(cudaHostGetDevicePointer(&address, pinned, 0));
  return address;
}

void copy(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  if (bytes > 0) cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

void fill(void* data, int byte, std::size_t bytes, StreamRef stream) {
  if (bytes > 0) cuda_check(cudaMemsetAsync(data, byte, bytes, stream));
}

}  // namespace trireme::memory
