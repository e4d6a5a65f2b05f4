// SPDX-License-Identifier: BSD-3-Clause
// Shares memory by CUDA IPC handles. The memory does not come from the pool, because allocations of
// the pool cannot be exported in this way.
#include "device/peer_memory.hpp"

#include <cstring>

#include "base/error.hpp"
#include "device/check.hpp"

namespace trireme {
namespace {

// IPC exports whole allocations of the driver. With this granularity such an allocation contains
// nothing but our memory.
constexpr std::size_t kGranularity = std::size_t{2} << 20;

// Throws Error{resource} for any failure, because containers and drivers that forbid IPC report
// many different errors.
void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  fail(ExitCode::resource, "GPUs cannot share memory between processes here: {}: {}", what,
       cudaGetErrorString(status));
}

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(PeerHandle));

}  // namespace

PeerMemory::PeerMemory(std::size_t bytes) {
  const std::size_t rounded = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  cuda_check(cudaMalloc(&data_, rounded));
  cuda_check(cudaMemset(data_, 0, rounded));
  cuda_check(cudaDeviceSynchronize());
}

PeerMemory::~PeerMemory() {
  if (data_) cudaFree(data_);
}

PeerHandle PeerMemory::handle() const {
  cudaIpcMemHandle_t raw;
  require(cudaIpcGetMemHandle(&raw, data_), "cudaIpcGetMemHandle");
  PeerHandle handle;
  std::memcpy(handle.bytes.data(), &raw, sizeof raw);
  return handle;
}

PeerMapping::PeerMapping(const PeerHandle& handle) {
  cudaIpcMemHandle_t raw;
  std::memcpy(&raw, handle.bytes.data(), sizeof raw);
  require(cudaIpcOpenMemHandle(&data_, raw, cudaIpcMemLazyEnablePeerAccess),
          "cudaIpcOpenMemHandle");
}

PeerMapping::~PeerMapping() {
  if (data_) cudaIpcCloseMemHandle(data_);
}

}  // namespace trireme
