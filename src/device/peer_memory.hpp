// SPDX-License-Identifier: BSD-3-Clause
// Device memory that the GPUs of other processes on the same node read and write, by CUDA IPC. This
// header compiles without CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace trireme {

// Identifies shared memory. It is plain data, which may be sent between processes in any way.
struct PeerHandle {
  std::array<std::byte, 64> bytes{};
};

// Owns zeroed device memory that other processes may map. Every mapping must be closed before this
// object is destroyed.
class PeerMemory {
 public:
  PeerMemory() = default;
  // Allocates on the current device. Throws Error{resource} where the memory does not suffice.
  explicit PeerMemory(std::size_t bytes);
  ~PeerMemory();
  PeerMemory(PeerMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PeerMemory& operator=(PeerMemory&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }

  void* data() const { return data_; }
  // Throws Error{resource} where memory cannot be shared.
  PeerHandle handle() const;
  // Gives up ownership: the memory is freed when the process ends. This is for memory that other
  // processes may still have mapped.
  void leave_to_the_process() { data_ = nullptr; }

 private:
  void* data_ = nullptr;
};

// Maps the PeerMemory of another process for the current device.
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
