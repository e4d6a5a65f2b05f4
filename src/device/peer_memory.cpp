// SPDX-License-Identifier: BSD-3-Clause
// CUDA IPC handles. The memory is not from the pool, whose allocations cannot be exported this way.
#include "device/peer_memory.hpp"

#include <cstring>

#include "device/check.hpp"

namespace trireme {
namespace {

// IPC exports whole allocations of the driver; with this granularity nothing else is in ours.
constexpr std::size_t kGranularity = std::size_t{2} << 20;

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
  cuda_check(cudaIpcGetMemHandle(&raw, data_));
  PeerHandle handle;
  std::memcpy(handle.bytes.data(), &raw, sizeof raw);
  return handle;
}

PeerMapping::PeerMapping(const PeerHandle& handle) {
  cudaIpcMemHandle_t raw;
  std::memcpy(&raw, handle.bytes.data(), sizeof raw);
  cuda_check(cudaIpcOpenMemHandle(&data_, raw, cudaIpcMemLazyEnablePeerAccess));
}

PeerMapping::~PeerMapping() {
  if (data_) cudaIpcCloseMemHandle(data_);
}

}  // namespace trireme
