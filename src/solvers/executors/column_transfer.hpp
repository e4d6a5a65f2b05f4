// SPDX-License-Identifier: BSD-3-Clause
// Many columns at once between ordinary host memory, in any layout, and the GPU. This header
// compiles without CUDA.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "device/uploader.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// On the GPU, the columns lie side by side without gaps. Host memory that lies so too is copied at
// once; other layouts go through a copy in host memory.
class ColumnTransfer {
 public:
  // Copies all columns. Returns when `from` has been read.
  void upload(MultiVector<const double> from, DeviceSpan<double> to, StreamRef stream);
  // Copies the columns `numbers` of to.width columns, and leaves the others as they are. Waits for
  // `stream`.
  void download(DeviceSpan<const double> from, MultiVector<double> to,
                std::span<const std::int64_t> numbers, StreamRef stream);

 private:
  Uploader uploader_;
};

}  // namespace trireme::solvers
