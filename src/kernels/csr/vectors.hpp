// SPDX-License-Identifier: BSD-3-Clause
// The product of a plain CSR with several vectors on CUDA.
#pragma once

#include <cstdint>

#include "device/multi_vector.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"

namespace trireme {

// A CSR in device memory whose values may have another type than the vectors.
template <class Stored>
struct CsrPointers {
  std::int64_t rows = 0;
  const std::int32_t* row_ptr = nullptr;
  const std::int32_t* col_idx = nullptr;
  const Stored* values = nullptr;
};

// More lanes share a row until it has `row_lanes` lanes or all rows together have `threads`
// threads.
struct LanesLimit {
  int row_lanes = 1;
  std::int64_t threads = 0;
};

// Y = A X, or Y += A X where `add`, for vectors side by side. `diagonal` is empty, or in FP32 that
// of CudaKernel::add_diagonal(). Asynchronous in `stream`. Stored and Vector: double and double,
// float and double, float and float.
template <class Stored, class Vector>
void multiply_vectors(const CsrPointers<Stored>& a, LanesLimit most,
                      DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y, bool add,
                      DeviceSpan<const float> diagonal, StreamRef stream);

}  // namespace trireme
