// SPDX-License-Identifier: BSD-3-Clause
// Allocates device memory from the stream-ordered pool and pinned host memory, and copies.
#include "device/memory.hpp"

#include <map>
#include <mutex>
#include <new>
#include <unordered_map>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "device/check.hpp"
#include "device/device.hpp"

namespace trireme::memory {
namespace {

std::string in_mb(std::size_t bytes) {
  return fmt::format("{:.1f} MB", 1e-6 * static_cast<double>(bytes));
}

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::align_val_t kAlignment{kHugePage};

// The blocks of huge pages that are pinned now. A few of those that nobody uses are kept, because
// a block costs more time than most copies through it. It is never destroyed, as buffers may
// outlive any static object.
class HugeBlocks {
 public:
  static HugeBlocks& all() {
    static auto* const blocks = new HugeBlocks;
    return *blocks;
  }
  void add(void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    in_use_[data] = bytes;
  }
  // A block of these bytes or up to twice as many that was kept; null: there is none.
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.lower_bound(bytes);
    if (found == kept_.end() || found->first > 2 * bytes) return nullptr;
    const auto [size, data] = *found;
    kept_.erase(found);
    kept_bytes_ -= size;
    in_use_[data] = size;
    return data;
  }
  bool has(void* data) {
    const std::lock_guard lock(mutex_);
    return in_use_.contains(data);
  }
  // Of a block that nothing reads any more. False: it is the caller's now.
  bool keep(void* data) {
    const std::lock_guard lock(mutex_);
    const auto found = in_use_.find(data);
    const std::size_t bytes = found->second;
    in_use_.erase(found);
    if (kept_bytes_ + bytes > kMostKept) return false;
    kept_.emplace(bytes, data);
    kept_bytes_ += bytes;
    return true;
  }

 private:
  static constexpr std::size_t kMostKept = std::size_t{64} << 20;

  std::mutex mutex_;
  std::unordered_map<void*, std::size_t> in_use_;
  std::multimap<std::size_t, void*> kept_;
  std::size_t kept_bytes_ = 0;
};

// Pins huge pages, several times as fast as cudaMallocHost() makes small ones: 32 MiB take 3 ms
// on a machine where cudaMallocHost() takes 10 to 15 ms. Returns null for a few pages, and where
// that does not work.
void* allocate_pinned_huge_pages(std::size_t bytes) {
  if (bytes < 4 * kHugePage) return nullptr;
  const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  if (void* const kept = HugeBlocks::all().take(rounded)) return kept;
  void* const data = ::operator new(rounded, kAlignment, std::nothrow);
  if (!data) return nullptr;
  prefer_huge_pages(data, rounded);
#pragma omp parallel for schedule(static) num_threads(4)
  for (std::size_t at = 0; at < rounded; at += kPage) static_cast<volatile char*>(data)[at] = 0;
  if (cudaHostRegister(data, rounded, cudaHostRegisterPortable | cudaHostRegisterMapped) ==
      cudaSuccess) {
    HugeBlocks::all().add(data, rounded);
    return data;
  }
  cudaGetLastError();
  ::operator delete(data, kAlignment);
  return nullptr;
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
  if (void* const large = allocate_pinned_huge_pages(bytes)) return large;
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

void free_pinned(void* data) noexcept {
  if (!HugeBlocks::all().has(data)) {
    cudaFreeHost(data);
    return;
  }
  cudaDeviceSynchronize();  // a copy may still read the memory
  if (HugeBlocks::all().keep(data)) return;
  cudaHostUnregister(data);
  ::operator delete(data, kAlignment);
}

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
