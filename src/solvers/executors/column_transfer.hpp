// SPDX-License-Identifier: BSD-3-Clause
// Many columns at once between ordinary host memory, in any layout, and the GPU. This header
// compiles without CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "device/uploader.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// On the GPU, the columns lie side by side without gaps. Host memory that lies so too is copied at
// once; other layouts go through a copy in host memory. The transfer keeps pinned memory between
// calls.
class ColumnTransfer {
 public:
  // Copies all columns. Returns when `from` has been read.
  void upload(MultiVector<const double> from, DeviceSpan<double> to, StreamRef stream);
  // Copies the columns `numbers` of to.width columns, and leaves the others as they are. Waits for
  // `stream`.
  void download(DeviceSpan<const double> from, MultiVector<double> to,
                std::span<const std::int64_t> numbers, StreamRef stream);
  // Makes the pinned chunks, where no call has. Throws Error{resource} where the system grants
  // none.
  void make_chunks();
  // The same for one column, with less pinned memory: two chunks serve both ways.
  void upload_one(std::span<const double> from, DeviceSpan<double> to, StreamRef stream);
  void download_one(DeviceSpan<const double> from, std::span<double> to, StreamRef stream);

 private:
  void upload_all(std::span<const double> from, DeviceSpan<double> to, StreamRef stream);
  void download_all(DeviceSpan<const double> from, double* to, StreamRef stream);

  std::optional<Uploader> uploader_;
  PinnedBuffer<double> chunks_;   // two, which take turns
  std::vector<Event> is_filled_;  // one per chunk, recorded behind its last copy
};

}  // namespace trireme::solvers
