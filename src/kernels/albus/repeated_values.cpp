// SPDX-License-Identifier: BSD-3-Clause
// Finds rows of diagonals that have equal values, and numbers the values of windows.
#include <cstring>

#include "kernels/albus/build.hpp"

namespace trireme::albus {
namespace {

template <class Value>
bool same_bits(const Value* a, const Value* b, std::int64_t count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(Value)) == 0;
}

// Whether each row has the values of the row before. They follow each other from `values` on.
template <class Value>
bool rows_repeat(const Value* values, Run rows) {
  return same_bits(values, values + rows.length, std::int64_t{rows.length} * (rows.count - 1));
}

// Most windows that do not repeat are left after their first rows, which no hardware prefetcher
// foresees.
template <class Value>
void prefetch_rows(const Part& part, std::size_t window, const Value* values) {
  constexpr std::size_t kWindowsAhead = 8;
  if (window + kWindowsAhead >= part.windows.size()) return;
  __builtin_prefetch(values + part.windows[window + kWindowsAhead].first_nonzero);
}

}  // namespace

// The values of a window begin at a multiple of a slice's rows, so that slices are cache lines.
template <class Value>
void number_values(const Pattern& pattern, const Value* values, Part& part) {
  std::int64_t stored = 0;
  const Window* last = nullptr;  // window with rows that repeat
  for (std::size_t i = 0; i < part.windows.size(); ++i) {
    prefetch_rows(part, i, values);
    Window& window = part.windows[i];
    const std::int32_t end = i + 1 < part.windows.size() ? part.windows[i + 1].first_nonzero
                                                         : pattern.row_ptr[part.whole_rows_end()];
    std::int64_t count = end - window.first_nonzero;
    window.first_value = stored;
    window.repeated = window.order == RowOrder::diagonals &&
                      rows_repeat(values + window.first_nonzero, part.runs[window.first_run]);
    if (window.repeated) {
      count = part.runs[window.first_run].length;
      if (last && part.runs[last->first_run].length == count &&
          same_bits(values + last->first_nonzero, values + window.first_nonzero, count)) {
        window.first_value = last->first_value;
        count = 0;
      }
      last = &window;
    }
    stored += (count + kSliceRows - 1) / kSliceRows * kSliceRows;
  }
  part.placed = stored;
}

template void number_values(const Pattern&, const double*, Part&);
template void number_values(const Pattern&, const float*, Part&);
template void number_values(const Pattern&, const std::int32_t*, Part&);

}  // namespace trireme::albus
