// SPDX-License-Identifier: BSD-3-Clause
// The GPU that this process uses, and its properties. This header compiles without CUDA.
#pragma once

#include <cstddef>
#include <string>

namespace trireme {

struct DeviceProperties {
  int index = 0;  // CUDA device number
  std::string name;
  std::string uuid;  // 32 hexadecimal digits; every process sees the same for the same GPU
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  std::size_t shared_memory_per_block = 0;  // bytes, the maximum that a kernel can opt in to
  bool cooperative_launch = false;
  int runtime_version = 0;  // 13000 is CUDA 13.0
  int driver_version = 0;

  // True where the FP64 matrix product m8n8k4 runs on tensor cores: on data-centre GPUs from
  // compute capability 8.0 on.
  bool fp64_tensor_cores() const { return compute_minor == 0 && compute_major >= 8; }
};

struct DeviceMemory {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

// True in a build with CUDA on a machine with a driver and a GPU. Never throws.
bool cuda_available() noexcept;

// Makes GPU number local_rank, modulo the number of GPUs, the current device of this thread. The
// memory pool of that device keeps freed memory. Throws Error{resource} with the reason where there
// is no usable GPU.
DeviceProperties select_device(int local_rank = 0);

// The properties of the current device. Throws Error{resource} without one.
DeviceProperties device_properties();

// Of the current device. Read in a microsecond, where all properties take a millisecond.
int multiprocessors();

// The memory of the current device. free_bytes includes memory that the pool holds and nobody uses.
DeviceMemory device_memory();

}  // namespace trireme
