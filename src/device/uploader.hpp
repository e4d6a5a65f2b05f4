// SPDX-License-Identifier: BSD-3-Clause
// Large arrays from ordinary host memory to the GPU at the rate of the bus: several threads fill
// pinned chunks, from which the GPU copies meanwhile. This header compiles without CUDA.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "device/stream.hpp"

namespace trireme {

class Uploader {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{2} << 20;
  static constexpr int kMaxThreads = 8;  // copy faster than a bus of 64 GB/s

  // Makes two chunks per thread, of at most kMaxThreads, for the current device. 0 threads stands
  // for the OpenMP threads of the caller. Where the system grants no pinned memory, copies go the
  // way of plain cudaMemcpy. Throws Error{resource} without a device.
  explicit Uploader(int threads = 0);
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Copies to the current device, which must be that of the constructor. Returns when `from` has
  // been read; the copy is complete after the work that is queued in `stream` so far. One call at a
  // time.
  template <class T>
  void copy(std::span<const T> from, DeviceSpan<T> to, StreamRef stream) {
    copy_bytes(to.data(), from.data(), from.size_bytes(), stream);
  }
  // Returns a copy of `from`, likewise.
  template <class T>
  DeviceBuffer<T> to_device(std::span<const T> from, StreamRef stream) {
    DeviceBuffer<T> buffer(from.size(), stream);
    copy(from, buffer.span(), stream);
    return buffer;
  }

 private:
  void copy_bytes(void* to, const void* from, std::size_t bytes, StreamRef stream);

  PinnedBuffer<char> chunks_;   // two per thread
  std::vector<Event> is_free_;  // per chunk: recorded behind the last copy from it
  int threads_ = 0;
  int device_ = 0;
};

}  // namespace trireme
