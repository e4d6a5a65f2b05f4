// SPDX-License-Identifier: BSD-3-Clause
// Device memory that GPUs of other processes on the same node read and write, by CUDA IPC. Compiles
// without CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace trireme {

// Plain data: travels between the processes by any means.
struct PeerHandle {
  std::array<std::byte, 64> bytes{};
};

// Owns zeroed device memory that may be mapped elsewhere. Every mapping must be gone before it is.
class PeerMemory {
 public:
  PeerMemory() = default;
  // On the current device. Throws Error{resource}.
  explicit PeerMemory(std::size_t bytes);
  ~PeerMemory();
  PeerMemory(PeerMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PeerMemory& operator=(PeerMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  void* data() const { return data_; }
  PeerHandle handle() const;  // throws Error{resource} where memory cannot be shared
  // Is not freed before the process ends: for memory that others may still have mapped.
  void leave_to_the_process() { data_ = nullptr; }

 private:
  void* data_ = nullptr;
};

// Another process's PeerMemory, mapped for the current device.
class PeerMapping {
 public:
  PeerMapping() = default;
  // Throws Error{resource} where the two GPUs cannot reach each other.
  explicit PeerMapping(const PeerHandle& handle);
  ~PeerMapping();
  PeerMapping(PeerMapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PeerMapping& operator=(PeerMapping&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

}  // namespace trireme
