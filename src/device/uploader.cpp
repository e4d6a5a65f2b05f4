// SPDX-License-Identifier: BSD-3-Clause
// Each thread has two chunks: while the GPU copies from or to one, the thread works on the other.
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
namespace {

constexpr std::size_t kPieces = 4;  // per thread, where the array is not larger
constexpr std::size_t kLeastPiece = std::size_t{256} << 10;

struct Piece {
  std::size_t at = 0, bytes = 0;
};

}  // namespace

Uploader::Uploader(int threads) {
  cuda_check(cudaGetDevice(&device_));
  threads_ = std::min(threads > 0 ? threads : omp_get_max_threads(), kMaxThreads);
  if (threads_ < 2) threads_ = 0;  // cudaMemcpy has one thread and two chunks of its own
}

void Uploader::make_chunks() {
  if (threads_ == 0 || !is_free_.empty()) return;
  try {
    chunks_ = PinnedBuffer<char>(2 * threads_ * kChunkBytes);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    threads_ = 0;
  }
  for (int chunk = 0; chunk < 2 * threads_; ++chunk) is_free_.emplace_back(Timing::no);
}

bool Uploader::takes_chunks(std::size_t bytes) {
  if (bytes > kLeastPiece) make_chunks();
  return threads_ > 0 && bytes > kLeastPiece;
}

// The driver waits for copies from the chunks before it frees them.
Uploader::~Uploader() = default;

template <class Work, class End>
void Uploader::for_each_piece(std::size_t bytes, const Work& work, const End& end) {
  const std::size_t even = bytes / (kPieces * static_cast<std::size_t>(threads_)) + 1;
  const std::size_t size = std::clamp(even, kLeastPiece, kChunkBytes);
  const auto pieces_of = [&](std::size_t thread, std::size_t threads) {
    cuda_check(cudaSetDevice(device_));  // each thread has a current device of its own
    std::size_t chunk = 2 * thread;
    for (std::size_t at = thread * size; at < bytes; at += threads * size) {
      work(Piece{at, std::min(size, bytes - at)}, chunk);
      chunk ^= 1;
    }
    end(chunk);
  };
  std::exception_ptr failure;
  std::mutex mutex;
  // A team of another size would end threads of the caller's team and make them again later.
#pragma omp parallel num_threads(std::max(threads_, omp_get_max_threads()))
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const auto threads = static_cast<std::size_t>(std::min(threads_, omp_get_num_threads()));
    try {
      if (thread < threads) pieces_of(thread, threads);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void Uploader::copy_bytes(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  if (!takes_chunks(bytes)) return memory::copy(to, from, bytes, stream);
  for_each_piece(
      bytes,
      [&](const Piece& piece, std::size_t chunk) {
        char* const pinned = chunks_.data() + chunk * kChunkBytes;
        is_free_[chunk].synchronize();
        std::memcpy(pinned, static_cast<const char*>(from) + piece.at, piece.bytes);
        memory::copy(static_cast<char*>(to) + piece.at, pinned, piece.bytes, stream);
        is_free_[chunk].record(stream);
      },
      [](std::size_t) {});
}

void Uploader::copy_bytes_back(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  if (!takes_chunks(bytes)) {
    memory::copy(to, from, bytes, stream);
    return synchronize(stream);
  }
  std::vector<Piece> in_chunk(is_free_.size());
  const auto empty = [&](std::size_t chunk) {
    is_free_[chunk].synchronize();
    const Piece piece = in_chunk[chunk];
    if (piece.bytes > 0)
      std::memcpy(static_cast<char*>(to) + piece.at, chunks_.data() + chunk * kChunkBytes,
                  piece.bytes);
    in_chunk[chunk].bytes = 0;
  };
  for_each_piece(
      bytes,
      [&](const Piece& piece, std::size_t chunk) {
        is_free_[chunk].synchronize();  // an upload may still read it
        memory::copy(chunks_.data() + chunk * kChunkBytes,
                     static_cast<const char*>(from) + piece.at, piece.bytes, stream);
        is_free_[chunk].record(stream);
        in_chunk[chunk] = piece;
        empty(chunk ^ 1);
      },
      [&](std::size_t chunk) { empty(chunk ^ 1); });
}

}  // namespace trireme
