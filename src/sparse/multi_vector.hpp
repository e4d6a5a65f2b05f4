// SPDX-License-Identifier: BSD-3-Clause
// A view of several vectors of equal length, in any layout.
#pragma once

#include <cstdint>
#include <type_traits>

namespace trireme {

// Owns nothing. Element i of vector j is data[i * row_stride + j * vector_stride]. Vectors side by
// side (row-major) have vector_stride 1; vectors one after the other have row_stride 1. Both
// strides count elements and are at least 1; elements do not overlap.
template <class Element>
struct MultiVector {
  Element* data = nullptr;
  std::int64_t rows = 0;   // elements per vector
  std::int64_t width = 0;  // vectors
  std::int64_t row_stride = 1;
  std::int64_t vector_stride = 1;

  Element& operator()(std::int64_t i, std::int64_t j) const {
    return data[i * row_stride + j * vector_stride];
  }
  Element* row(std::int64_t i) const { return data + i * row_stride; }

  bool side_by_side() const { return vector_stride == 1; }

  // The vectors first .. first + count - 1.
  MultiVector vectors(std::int64_t first, std::int64_t count) const {
    return {data + first * vector_stride, rows, count, row_stride, vector_stride};
  }

  // NOLINTNEXTLINE(google-explicit-constructor): as std::span<T> becomes std::span<const T>
  operator MultiVector<const Element>() const requires(!std::is_const_v<Element>) {
    return {data, rows, width, row_stride, vector_stride};
  }
};

// Vectors side by side without gaps.
template <class Element>
MultiVector<Element> side_by_side(Element* data, std::int64_t rows, std::int64_t width) {
  return {data, rows, width, width > 0 ? width : 1, 1};
}

// Vectors one after the other without gaps.
template <class Element>
MultiVector<Element> one_after_the_other(Element* data, std::int64_t rows, std::int64_t width) {
  return {data, rows, width, 1, rows > 0 ? rows : 1};
}

}  // namespace trireme
