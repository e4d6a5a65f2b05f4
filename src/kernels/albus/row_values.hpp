// SPDX-License-Identifier: BSD-3-Clause
// Where the values of single rows lie, for products that walk through the rows of the CSR.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/albus/layout.hpp"

namespace trireme::albus {

// The values of one row or a piece of one: nonzero k is first[k * stride]. Rows that follow each
// other read, together, the same memory as if each read its nonzeros one after the other from
// `stream` on.
template <class Value>
struct RowValues {
  const Value* first = nullptr;
  std::int64_t stride = 1;
  const Value* stream = first;
};

// Finds the values of rows that are asked for in ascending order.
template <class Value>
class RowValuesFinder {
 public:
  RowValuesFinder(const Layout<Value>& layout, std::int32_t first_row)
      : layout_(layout),
        part_(static_cast<std::size_t>(
            std::partition_point(layout.parts.begin(), layout.parts.end(),
                                 [&](const Part& part) { return part.end <= first_row; }) -
            layout.parts.begin())) {
    if (part_ < layout.parts.size()) window_ = first_window(layout.parts[part_], first_row);
  }

  // `begin` is the first nonzero of the row, or of the piece.
  RowValues<Value> of(std::int32_t row, std::int32_t begin) {
    const RowValues<Value> in_order{layout_.values.data() + begin};
    while (part_ < layout_.parts.size() && layout_.parts[part_].end <= row) {
      ++part_;
      window_ = 0;
    }
    if (part_ == layout_.parts.size()) return in_order;
    const Part& part = layout_.parts[part_];
    while (window_ < part.windows.size() && end_of(part.windows[window_]) <= row) ++window_;
    if (window_ == part.windows.size()) return in_order;
    const Window& window = part.windows[window_];
    if (row < window.first_row) return in_order;
    if (window.in_slices()) return in_order;
    const Value* const values = layout_.values_of(part, window);
    if (window.order != RowOrder::diagonals) return {values + (begin - window.first_nonzero)};
    if (window.repeated) return {values};
    const std::int64_t length = part.runs[window.first_run].length;
    const std::int32_t before = row - window.first_row, lane = before % kSliceRows;
    const std::int32_t rows = std::min(kSliceRows, window.rows - (before - lane));
    const Value* const slice = values + (before - lane) * length;
    return {slice + lane, rows, slice + lane * length};
  }

 private:
  static std::int32_t end_of(const Window& window) { return window.first_row + window.rows; }
  static std::size_t first_window(const Part& part, std::int32_t row) {
    return static_cast<std::size_t>(
        std::partition_point(part.windows.begin(), part.windows.end(),
                             [&](const Window& window) { return end_of(window) <= row; }) -
        part.windows.begin());
  }

  const Layout<Value>& layout_;
  std::size_t part_ = 0, window_ = 0;
};

}  // namespace trireme::albus
