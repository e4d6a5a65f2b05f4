// SPDX-License-Identifier: BSD-3-Clause
// Large arrays between ordinary host memory and the GPU at the rate of the bus: several threads
// fill or empty pinned chunks, while the GPU copies from or to others. This header compiles without
// CUDA.
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

  // For the current device, by at most kMaxThreads threads. 0 stands for the OpenMP threads of the
  // caller. Throws Error{resource} without a device.
  explicit Uploader(int threads = 0);
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Makes two chunks per thread, which the first large copy does otherwise. Where the system grants
  // no pinned memory, copies go the way of plain cudaMemcpy.
  void make_chunks();

  // Copies to the current device, which must be that of the constructor. Returns when `from` has
  // been read; the copy is complete after the work that is queued in `stream` so far. One call at a
  // time.
  template <class T>
  void copy(std::span<const T> from, DeviceSpan<T> to, StreamRef stream) {
    copy_bytes(to.data(), from.data(), from.size_bytes(), stream);
  }
  // Copies to host memory; returns when `to` is complete.
  template <class T>
  void copy_back(DeviceSpan<const T> from, std::span<T> to, StreamRef stream) {
    copy_bytes_back(to.data(), from.data(), from.size() * sizeof(T), stream);
  }
  // Returns a copy of `from`, likewise.
  template <class T>
  DeviceBuffer<T> to_device(std::span<const T> from, StreamRef stream) {
    DeviceBuffer<T> buffer(from.size(), stream);
    copy(from, buffer.span(), stream);
    return buffer;
  }

 private:
  // Makes chunks for a large array.
  bool takes_chunks(std::size_t bytes);
  void copy_bytes(void* to, const void* from, std::size_t bytes, StreamRef stream);
  void copy_bytes_back(void* to, const void* from, std::size_t bytes, StreamRef stream);
  // Calls work(piece, chunk) for the pieces of an array, by all threads; the chunks of a thread
  // take turns. After its last piece, each thread calls end(chunk) with its next chunk.
  template <class Work, class End>
  void for_each_piece(std::size_t bytes, const Work& work, const End& end);

  PinnedBuffer<char> chunks_;   // two per thread
  std::vector<Event> is_free_;  // per chunk: recorded behind the last copy from or to it
  int threads_ = 0;             // 0: cudaMemcpy serves
  int device_ = 0;
};

}  // namespace trireme
