// SPDX-License-Identifier: BSD-3-Clause
// Copies values into the order in which tiles and windows read them.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/albus/build.hpp"
#include "kernels/albus/diagonals.hpp"
#include "kernels/albus/slices.hpp"
#include "kernels/host_sum.hpp"

namespace trireme::albus {
namespace {

constexpr std::int64_t kLineValues = 16;  // of the narrowest type, in a cache line

// Copies the values. Returns whether FP32 represents all of them. Compilers vectorise the
// comparison of bits, but not that of doubles.
bool copy_rounded(const double* from, std::int64_t count, float* to) {
  std::uint64_t lost = 0;
#pragma omp simd reduction(| : lost)
  for (std::int64_t k = 0; k < count; ++k) {
    to[k] = static_cast<float>(from[k]);
    lost |= std::bit_cast<std::uint64_t>(static_cast<double>(to[k])) ^
            std::bit_cast<std::uint64_t>(from[k]);
  }
  return lost == 0;
}

// Copies the placed values of one part to `placed`, and those that are read in the order of the CSR
// to in_order, unless Value is From. Returns whether Value represents all of them exactly.
template <class Value, class From>
class PlacePart {
 public:
  PlacePart(const Pattern& pattern, const Part& part, const From* values, Value* placed,
            Value* in_order)
      : pattern_(pattern),
        part_(part),
        values_(values),
        placed_(placed),
        in_order_(in_order),
        first_(pattern.row_ptr[part.start]) {}

  bool place() {
    if (part_.placed == 0 || part_.windows.empty()) {
      keep(part_.start1, part_.end1);
      for (std::size_t k = 0; k < part_.places.size(); ++k)
        placed_[part_.places[k]] = static_cast<Value>(values_[first_ + k]);
      return exact_;
    }
    const std::int32_t end = pattern_.row_ptr[part_.whole_rows_end()];
    keep(part_.start1, first_);
    for (std::size_t i = 0; i < part_.windows.size(); ++i)
      place(part_.windows[i],
            i + 1 < part_.windows.size() ? part_.windows[i + 1].first_nonzero : end);
    keep(end, part_.end1);
    return exact_;
  }

 private:
  // `end` is the nonzero after the window's last one.
  void place(const Window& window, std::int32_t end) {
    const From* const from = values_ + window.first_nonzero;
    Value* const to = placed_ + window.first_value;
    if (window.repeated) {
      copy(window.first_nonzero, window.first_nonzero + part_.runs[window.first_run].length, to);
    } else if (window.order == RowOrder::diagonals) {
      exact_ &= place_diagonals(from, part_.runs[window.first_run], to);
    } else if (window.in_slices()) {
      keep(window.first_nonzero, end);
      place_slices(pattern_, part_, window, from, to);
    } else {
      copy(window.first_nonzero, end, to);
    }
  }
  void copy(std::int32_t begin, std::int32_t end, Value* to) {
    if constexpr (std::is_same_v<Value, From>)
      std::copy(values_ + begin, values_ + end, to);
    else
      exact_ &= copy_rounded(values_ + begin, end - begin, to);
  }
  void keep(std::int32_t begin, std::int32_t end) {
    if constexpr (!std::is_same_v<Value, From>) copy(begin, end, in_order_ + begin);
  }

  const Pattern& pattern_;
  const Part& part_;
  const From* values_;
  Value* placed_;
  Value* in_order_;
  std::int32_t first_;  // nonzero of the whole rows
  bool exact_ = true;
};

// Each part begins at a cache line.
void number_parts(std::vector<Part>& parts) {
  std::int64_t first = 0;
  for (Part& part : parts) {
    part.first_placed = first;
    first += (part.placed + kLineValues - 1) / kLineValues * kLineValues;
  }
}

std::int64_t rows_of_largest_block(const Part& part) {
  std::int64_t rows = 0;
  for (const TileBlock& block : part.blocks) rows = std::max<std::int64_t>(rows, block.rows);
  return rows;
}

}  // namespace

template <class Value, class From>
bool place_values(Pattern& pattern, std::span<const From> values, LineArray<Value>& placed,
                  Array<Value>* in_order) {
  const auto parts = static_cast<std::int64_t>(pattern.parts.size());
#pragma omp parallel for schedule(static) if (parts > 1)
  for (std::int64_t t = 0; t < parts; ++t)
    if (pattern.parts[t].has_diagonals()) number_values(pattern, values.data(), pattern.parts[t]);
  number_parts(pattern.parts);
  placed.resize(pattern.parts.back().first_placed + pattern.parts.back().placed);
  if (in_order) in_order->resize(values.size());
  if constexpr (!std::is_same_v<From, HostLaneOf<From>>)
    for (Part& part : pattern.parts) part.block_sums.resize(rows_of_largest_block(part));
  bool exact = true;
#pragma omp parallel for schedule(static) reduction(&& : exact) if (parts > 1)
  for (std::int64_t t = 0; t < parts; ++t) {
    const Part& part = pattern.parts[t];
    exact = PlacePart<Value, From>(pattern, part, values.data(), placed.data() + part.first_placed,
                                   in_order ? in_order->data() : nullptr)
                .place() &&
            exact;
  }
  return exact;
}

template bool place_values(Pattern&, std::span<const double>, LineArray<double>&, Array<double>*);
template bool place_values(Pattern&, std::span<const double>, LineArray<float>&, Array<float>*);
template bool place_values(Pattern&, std::span<const float>, LineArray<float>&, Array<float>*);
template bool place_values(Pattern&, std::span<const std::int32_t>, LineArray<std::int32_t>&,
                           Array<std::int32_t>*);

}  // namespace trireme::albus
