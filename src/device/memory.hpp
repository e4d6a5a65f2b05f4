// SPDX-License-Identifier: BSD-3-Clause
// Untyped device and pinned memory, and copies: what buffer.hpp is made of. Compiles without CUDA.
#pragma once

#include <cstddef>

#include "device/stream.hpp"

namespace trireme::memory {

// From the device's memory pool, ordered in `stream`; nullptr for 0 bytes. Throws Error{resource}
// with the bytes asked for and free.
void* allocate_device(std::size_t bytes, StreamRef stream);
// After the work queued in `stream` so far.
void free_device_in_stream(void* data, StreamRef stream) noexcept;
// Waits for the device first, so that no product in flight loses its arrays.
void free_device(void* data) noexcept;

void* allocate_pinned(std::size_t bytes);
void free_pinned(void* data) noexcept;
// The address at which the device reads and writes pinned memory.
void* device_address(void* pinned);

// Any direction, asynchronous where the host side is pinned.
void copy(void* to, const void* from, std::size_t bytes, StreamRef stream);
void fill(void* data, int byte, std::size_t bytes, StreamRef stream);

}  // namespace trireme::memory
