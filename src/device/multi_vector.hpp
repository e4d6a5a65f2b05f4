// SPDX-License-Identifier: BSD-3-Clause
// A view of several vectors of equal length in device memory, in any layout. It is a separate type
// so that host code cannot read through it by mistake.
#pragma once

#include <cstdint>
#include <type_traits>

namespace trireme {

// Owns nothing. The strides are those of MultiVector (sparse/multi_vector.hpp): element i of vector
// j is data[i * row_stride + j * vector_stride].
template <class Element>
struct DeviceMultiVector {
  Element* data = nullptr;  // a device address, for kernel launches and copies only
  std::int64_t rows = 0;    // elements per vector
  std::int64_t width = 0;   // vectors
  std::int64_t row_stride = 1;
  std::int64_t vector_stride = 1;

  bool side_by_side() const { return vector_stride == 1; }

  // The vectors first .. first + count - 1.
  DeviceMultiVector vectors(std::int64_t first, std::int64_t count) const {
    return {data + first * vector_stride, rows, count, row_stride, vector_stride};
  }

  // As a view that only reads.
  template <class Other>
  requires(std::is_same_v<Other, const Element> && !std::is_const_v<Element>)
  // NOLINTNEXTLINE(google-explicit-constructor): as std::span<T> becomes std::span<const T>
  operator DeviceMultiVector<Other>() const {
    return {data, rows, width, row_stride, vector_stride};
  }
};

}  // namespace trireme
