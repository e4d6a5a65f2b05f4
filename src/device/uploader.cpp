// SPDX-License-Identifier: BSD-3-Clause
// Each thread has two chunks: while the GPU copies from one, the thread fills the other.
#include "device/uploader.hpp"

#include <cuda_runtime_api.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>

#include "base/error.hpp"
#include "device/check.hpp"

namespace trireme {

Uploader::Uploader(int threads) {
  cuda_check(cudaGetDevice(&device_));
  threads = std::min(threads > 0 ? threads : omp_get_max_threads(), kMaxThreads);
  if (threads < 2) return;  // cudaMemcpy has one thread and two chunks of its own
  try {
    chunks_ = PinnedBuffer<char>(2 * threads * kChunkBytes);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    return;
  }
  for (int chunk = 0; chunk < 2 * threads; ++chunk) is_free_.emplace_back(Timing::no);
  threads_ = threads;
}

// The driver waits for copies from the chunks before it frees them.
Uploader::~Uploader() = default;

void Uploader::copy_bytes(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  if (threads_ == 0 || bytes <= kChunkBytes) {
    memory::copy(to, from, bytes, stream);
    return;
  }
  const std::size_t pieces = (bytes + kChunkBytes - 1) / kChunkBytes;
  std::exception_ptr failure;
  std::mutex mutex;
#pragma omp parallel num_threads(threads_)
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const auto team = static_cast<std::size_t>(omp_get_num_threads());
    try {
      cuda_check(cudaSetDevice(device_));  // each thread has a current device of its own
      std::size_t chunk = 2 * thread;
      for (std::size_t piece = thread; piece < pieces; piece += team) {
        const std::size_t at = piece * kChunkBytes;
        const std::size_t count = std::min(kChunkBytes, bytes - at);
        char* const pinned = chunks_.data() + chunk * kChunkBytes;
        is_free_[chunk].synchronize();
        std::memcpy(pinned, static_cast<const char*>(from) + at, count);
        memory::copy(static_cast<char*>(to) + at, pinned, count, stream);
        is_free_[chunk].record(stream);
        chunk ^= 1;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace trireme
