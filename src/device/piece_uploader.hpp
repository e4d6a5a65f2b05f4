// SPDX-License-Identifier: BSD-3-Clause
// Pieces of arrays from ordinary host memory to the GPU, by any number of threads at a time: the
// way for data that several threads make piece by piece. This header compiles without CUDA.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "device/stream.hpp"

namespace trireme {

class PieceUploader {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  // Makes `chunks` chunks of pinned memory for the current device; each thread that is to copy
  // needs one or two. Where the system grants no pinned memory, copy() copies nothing. Throws
  // Error{resource} without a device.
  explicit PieceUploader(int chunks);
  ~PieceUploader();
  PieceUploader(const PieceUploader&) = delete;
  PieceUploader& operator=(const PieceUploader&) = delete;

  // Copies at most kPieceBytes to the device of the constructor, which becomes that of the calling
  // thread. Returns when `from` has been read; the copy is complete after the work that is queued
  // in `stream` so far. Returns false, and copies nothing, for a larger piece or without pinned
  // memory.
  template <class T>
  bool copy(std::span<const T> from, DeviceSpan<T> to, StreamRef stream) {
    return copy_bytes(to.data(), from.data(), from.size_bytes(), stream);
  }
  // Makes the device of the constructor that of the calling thread.
  void select_its_device() const;

 private:
  bool copy_bytes(void* to, const void* from, std::size_t bytes, StreamRef stream);

  PinnedBuffer<char> chunks_;
  std::vector<Event> is_free_;      // per chunk: recorded behind the last copy from it
  std::vector<std::mutex> in_use_;  // per chunk
  std::atomic<std::size_t> next_ = 0;
  int device_ = 0;
};

}  // namespace trireme
