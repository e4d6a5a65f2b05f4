// SPDX-License-Identifier: BSD-3-Clause
// Which GPU this process uses, and what it can do. Compiles without CUDA.
#pragma once

#include <cstddef>
#include <string>

namespace trireme {

struct DeviceProperties {
  int index = 0;  // CUDA device number
  std::string name;
  std::string uuid;  // 32 hexadecimal digits: the same GPU in every process
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  std::size_t shared_memory_per_block = 0;  // with opt-in
  bool cooperative_launch = false;
  int runtime_version = 0;  // 13000 is CUDA 13.0
  int driver_version = 0;

  // DMMA (m8n8k4) runs on tensor cores: data-centre GPUs from compute capability 8.0 on.
  bool fp64_tensor_cores() const { return compute_minor == 0 && compute_major >= 8; }
};

struct DeviceMemory {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

// True in a build with CUDA on a machine with a driver and a GPU. Never throws.
bool cuda_available() noexcept;
// Makes GPU number local_rank modulo their count this thread's device, and lets its memory pool
// keep what is freed. Throws Error{resource}, one line that says why, where there is no usable GPU.
DeviceProperties select_device(int local_rank = 0);
// Of the current device.
DeviceProperties device_properties();
// Free counts memory that the pool holds but nobody uses.
DeviceMemory device_memory();

}  // namespace trireme
