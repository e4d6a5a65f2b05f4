// SPDX-License-Identifier: BSD-3-Clause
// A copy on the GPU of a level whose arrays are on the host.
#pragma once

#include <cstdint>
#include <span>

#include "device/buffer.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "multigrid/cuda/device_parts.hpp"

namespace trireme::multigrid {

// The arrays are freed in the stream.
struct UploadedLevel {
  template <class T>
  using Scratch = BasicDeviceBuffer<T, Lifetime::stream>;
  struct Matrix {
    Scratch<std::int32_t> row_ptr, col_idx;
    Scratch<double> values;
  };
  Matrix a, p, restriction;
  Scratch<double> inverse, dense_inverse;
  DeviceLevelParts parts;

  UploadedLevel(const HostLevelParts& level, StreamRef stream) {
    static_cast<LevelNumbers&>(parts) = level;
    parts.a = upload(level.a, a, stream);
    parts.p = upload(level.p, p, stream);
    parts.restriction = upload(level.restriction, restriction, stream);
    parts.inverse = upload(level.inverse, inverse, stream);
    parts.dense_inverse = upload(level.dense_inverse, dense_inverse, stream);
    synchronize(stream);  // the host's arrays may go
  }

  template <class T>
  static DeviceSpan<const T> upload(std::span<const T> from, Scratch<T>& to, StreamRef stream) {
    to = Scratch<T>(from.size(), stream);
    copy_to_device(from, to.span(), stream);
    return to.view();
  }
  static DeviceCsr<double> upload(const CsrView<double>& from, Matrix& to, StreamRef stream) {
    return {from.rows,
            from.cols,
            static_cast<std::int64_t>(from.values.size()),
            upload(from.row_ptr, to.row_ptr, stream),
            upload(from.col_idx, to.col_idx, stream),
            upload(from.values, to.values, stream)};
  }
};

}  // namespace trireme::multigrid
