// SPDX-License-Identifier: BSD-3-Clause
// The chunks are used in turns: a thread waits for the copy from its chunk, fills the chunk, and
// queues the next copy.
#include "device/piece_uploader.hpp"

#include <cuda_runtime_api.h>

#include <cstring>

#include "base/error.hpp"
#include "device/check.hpp"

namespace trireme {

PieceUploader::PieceUploader(int chunks) : in_use_(chunks) {
  cuda_check(cudaGetDevice(&device_));
  try {
    chunks_ = PinnedBuffer<char>(chunks * kPieceBytes);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    return;
  }
  for (int chunk = 0; chunk < chunks; ++chunk) is_free_.emplace_back(Timing::no);
}

// The driver waits for copies from the chunks before it frees them.
PieceUploader::~PieceUploader() = default;

void PieceUploader::select_its_device() const { cuda_check(cudaSetDevice(device_)); }

bool PieceUploader::copy_bytes(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  if (is_free_.empty() || bytes > kPieceBytes) return false;
  select_its_device();
  const std::size_t chunk = next_.fetch_add(1) % is_free_.size();
  char* const pinned = chunks_.data() + chunk * kPieceBytes;
  const std::lock_guard lock(in_use_[chunk]);
  is_free_[chunk].synchronize();
  std::memcpy(pinned, from, bytes);
  memory::copy(to, pinned, bytes, stream);
  is_free_[chunk].record(stream);
  return true;
}

}  // namespace trireme
