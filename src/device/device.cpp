// SPDX-License-Identifier: BSD-3-Clause
// Selects the device and reads its properties through the CUDA runtime.
#include "device/device.hpp"

#include <cstdint>
#include <limits>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/device_scope.hpp"

namespace trireme {
namespace {

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

int current_device() {
  int device = 0;
  cuda_check(cudaGetDevice(&device));
  return device;
}

std::string hexadecimal(const cudaUUID_t& uuid) {
  std::string digits;
  for (const char byte : uuid.bytes)
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

// Freed memory stays in the pool, so that a rebuild or the next solve need not map it again.
void keep_pool_memory(int device) {
  cudaMemPool_t pool = nullptr;
  cuda_check(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t threshold = std::numeric_limits<std::uint64_t>::max();
  cuda_check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
}

}  // namespace

bool cuda_available() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return true;
  cudaGetLastError();
  return false;
}

DeviceProperties select_device(int local_rank) {
  int count = 0;
  cuda_check(cudaGetDeviceCount(&count));
  if (count == 0) cuda_check(cudaErrorNoDevice);
  const int device = local_rank % count;
  cuda_check(cudaSetDevice(device));
  // A waiting thread yields its core, because mpirun may have bound the threads of NCCL to the same
  // core.
  cuda_check(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  if (!attribute(cudaDevAttrMemoryPoolsSupported, device))
    fail(ExitCode::resource, "CUDA device {} has no memory pools; use device: cpu", device);
  keep_pool_memory(device);
  return device_properties();
}

DeviceScope::DeviceScope() {
  if (cudaGetDevice(&before_) == cudaSuccess) return;
  cudaGetLastError();
  before_ = -1;
}

DeviceScope::DeviceScope(int device) : DeviceScope() {
  if (device != before_) cuda_check(cudaSetDevice(device));
}

DeviceScope::~DeviceScope() {
  int now = -1;
  if (before_ >= 0 && cudaGetDevice(&now) == cudaSuccess && now != before_) cudaSetDevice(before_);
}

DeviceProperties device_properties() {
  const int device = current_device();
  cudaDeviceProp raw{};
  cuda_check(cudaGetDeviceProperties(&raw, device));
  DeviceProperties properties{.index = device,
                              .name = raw.name,
                              .uuid = hexadecimal(raw.uuid),
                              .compute_major = raw.major,
                              .compute_minor = raw.minor,
                              .multiprocessors = raw.multiProcessorCount,
                              .l2_bytes = static_cast<std::size_t>(raw.l2CacheSize),
                              .memory_bytes = raw.totalGlobalMem,
                              .shared_memory_per_block = raw.sharedMemPerBlockOptin,
                              .cooperative_launch = raw.cooperativeLaunch != 0};
  cuda_check(cudaRuntimeGetVersion(&properties.runtime_version));
  cuda_check(cudaDriverGetVersion(&properties.driver_version));
  return properties;
}

int multiprocessors() {
  int count = 0;
  cuda_check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, current_device()));
  return count;
}

DeviceMemory device_memory() {
  DeviceMemory memory;
  cuda_check(cudaMemGetInfo(&memory.free_bytes, &memory.total_bytes));
  cudaMemPool_t pool = nullptr;
  cuda_check(cudaDeviceGetDefaultMemPool(&pool, current_device()));
  std::uint64_t reserved = 0, used = 0;
  cuda_check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  cuda_check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  if (reserved > used)
    memory.free_bytes += reserved - used;  // beside another process, it may not be
  return memory;
}

}  // namespace trireme
