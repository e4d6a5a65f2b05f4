// SPDX-License-Identifier: BSD-3-Clause
// Untyped device memory, pinned host memory and copies, on which buffer.hpp is built. This header
// compiles without CUDA.
#pragma once

#include <cstddef>

#include "device/stream.hpp"

namespace trireme::memory {

// Allocates from the memory pool of the current device, ordered in `stream`. Returns nullptr for 0
// bytes. Throws Error{resource} with the needed and the free bytes.
void* allocate_device(std::size_t bytes, StreamRef stream);
// Frees the memory after the work that is queued in `stream` so far.
void free_device_in_stream(void* data, StreamRef stream) noexcept;
// Waits for the device and then frees the memory, so that no product in flight loses its arrays.
void free_device(void* data) noexcept;

// Returns nullptr for 0 bytes. Throws Error{resource} where the system grants no memory.
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* data) noexcept;
// The address at which the device reads and writes pinned memory.
void* device_address(void* pinned);

// Copies in any direction. The copy is asynchronous in `stream` where host memory is pinned.
void copy(void* to, const void* from, std::size_t bytes, StreamRef stream);
void fill(void* data, int byte, std::size_t bytes, StreamRef stream);

}  // namespace trireme::memory
