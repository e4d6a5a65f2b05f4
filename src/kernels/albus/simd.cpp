// SPDX-License-Identifier: BSD-3-Clause
// Multiplies one part of the ALBUS layout by x. The code between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE is compiled once per SIMD target that Highway knows on this platform. The
// best target is selected at run time.
//
// Runs of rows of up to 15 nonzeros have scalar code, unrolled for their length, because a vector
// would spend more on the sum of its lanes than it saves. Longer rows use full vectors in two
// accumulators. One scalar load per lane gathers x, because a hardware gather is slower on several
// current CPUs; sorted slices use it on CPUs where it is known to be faster. Values and columns
// that come from memory are prefetched kAhead nonzeros before their use; a plain CSR loop spends
// most of its time waiting for them.
#include <algorithm>
#include <type_traits>

#include "kernels/albus/albus.hpp"
#include "kernels/albus/multiply_part.hpp"
#include "kernels/albus/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/albus/simd.cpp"
#include "hwy/foreach_target.h"

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/albus/diagonals-inl.hpp"
#include "kernels/albus/slices-inl.hpp"
#include "kernels/albus/tiles-inl.hpp"
#include "kernels/albus/windows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {

// The descriptions of the next windows are small, but a window needs them before all other data.
HWY_INLINE void PrefetchDescriptions(const Part& part, std::size_t window) {
  constexpr std::size_t kWindowsAhead = 2;
  if (window + 3 * kWindowsAhead < part.windows.size())
    hwy::Prefetch(&part.windows[window + 3 * kWindowsAhead]);
  if (window + kWindowsAhead >= part.windows.size()) return;
  const Window& next = part.windows[window + kWindowsAhead];
  if (next.in_slices()) {
    hwy::Prefetch(part.steps.data() + next.first_run);
    return PrefetchRange(part.masks.data() + next.first_mask, next.rows);
  }
  hwy::Prefetch(part.runs.data() + next.first_run);
  if (next.order == RowOrder::sorted) PrefetchRange(part.slots.data() + next.first_slot, next.rows);
}

template <class Stored, class Value>
HWY_INLINE HostLaneOf<Value> MultiplyPart(const Layout<Stored>& layout, const Part& part,
                                          const Value* x, Value* y, bool add) {
  const Stored* values = layout.values.data();
  const std::int32_t* col_idx = layout.col_idx.data();
  const std::int32_t* row_ptr = layout.row_ptr.data();
  const std::int64_t ahead = layout.beyond_core_cache ? kAhead : 0;
  const std::int64_t rows_ahead = layout.beyond_last_cache ? kAhead : 0;
  const auto piece = [&](std::int32_t begin, std::int32_t end) {
    return RowSum(end - begin, values + begin, col_idx + begin, x);
  };
  Sum<Value> head{};
  if (part.has_head()) head = piece(part.start1, part.head_end);
  MultiplyTiles(layout, part, x, y, add);
  for (std::size_t i = 0; i < part.windows.size(); ++i) {
    const Window& window = part.windows[i];
    const Stored* window_values = layout.values_of(part, window);
    Value* window_y = y + window.first_row;
    if (ahead != 0) PrefetchDescriptions(part, i);
    if (window.order == RowOrder::diagonals) {
      const std::int32_t* const offsets = part.offsets.data() + window.first_column;
      const Run run = part.runs[window.first_run];
      if (window.repeated)
        MultiplyRepeatedDiagonals(window_values, offsets, run, window.first_row, x, y, ahead, add);
      else
        MultiplyDiagonals(window_values, offsets, run, window.first_row, x, y, ahead, add);
    } else if (window.order == RowOrder::masked_diagonals) {
      MultiplyMaskedDiagonals(window_values, part, window, x, window_y, ahead, add);
    } else if (window.order == RowOrder::sorted_slices) {
      if (layout.gathers)
        MultiplySortedSlices<true>(window_values, part, window, x + window.base, window_y, ahead,
                                   add);
      else
        MultiplySortedSlices<false>(window_values, part, window, x + window.base, window_y, ahead,
                                    add);
    } else if (window.narrow) {
      const std::uint16_t* narrow = part.narrow_col_idx.data() + window.first_column;
      MultiplyWindow(
          Operands<Stored, Value, std::uint16_t>{window_values, narrow, x + window.base, window_y,
                                                 ahead, rows_ahead, layout.fetch_rows, add},
          part, window, row_ptr);
    } else {
      MultiplyWindow(
          Operands<Stored, Value, std::int32_t>{window_values, col_idx + window.first_nonzero, x,
                                                window_y, ahead, rows_ahead, layout.fetch_rows,
                                                add},
          part, window, row_ptr);
    }
  }
  if (part.has_tail()) {
    const Operands<Stored, Value, std::int32_t> a{values, col_idx, x, y, 0, 0, false, add};
    a.store(part.end - 1, piece(part.tail_begin, part.end1));
  }
  return static_cast<HostLaneOf<Value>>(head);
}

}  // namespace

// The table of targets of Highway takes plain functions, not templates.
double MultiplyPartDouble(const Layout<double>& layout, const Part& part, const double* x,
                          double* y, bool add) {
  return MultiplyPart(layout, part, x, y, add);
}
double MultiplyPartFloat(const Layout<float>& layout, const Part& part, const float* x, float* y,
                         bool add) {
  return MultiplyPart(layout, part, x, y, add);
}
std::int32_t MultiplyPartInt(const Layout<std::int32_t>& layout, const Part& part,
                             const std::int32_t* x, std::int32_t* y, bool add) {
  return MultiplyPart(layout, part, x, y, add);
}

double MultiplyPartMixed(const Layout<float>& layout, const Part& part, const double* x, double* y,
                         bool add) {
  return MultiplyPart(layout, part, x, y, add);
}

std::int64_t SimdTarget() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::albus {
namespace {

HWY_EXPORT(MultiplyPartDouble);
HWY_EXPORT(MultiplyPartFloat);
HWY_EXPORT(MultiplyPartInt);
HWY_EXPORT(MultiplyPartMixed);
HWY_EXPORT(SimdTarget);

}  // namespace

double multiply_part(const Layout<double>& layout, const Part& part, const double* x, double* y,
                     bool add) {
  return HWY_DYNAMIC_DISPATCH(MultiplyPartDouble)(layout, part, x, y, add);
}
double multiply_part(const Layout<float>& layout, const Part& part, const float* x, float* y,
                     bool add) {
  return HWY_DYNAMIC_DISPATCH(MultiplyPartFloat)(layout, part, x, y, add);
}
std::int32_t multiply_part(const Layout<std::int32_t>& layout, const Part& part,
                           const std::int32_t* x, std::int32_t* y, bool add) {
  return HWY_DYNAMIC_DISPATCH(MultiplyPartInt)(layout, part, x, y, add);
}

double multiply_part(const Layout<float>& layout, const Part& part, const double* x, double* y,
                     bool add) {
  return HWY_DYNAMIC_DISPATCH(MultiplyPartMixed)(layout, part, x, y, add);
}

namespace {
std::string_view simd_target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(SimdTarget)()); }
}  // namespace

}  // namespace trireme::albus

namespace trireme {
std::string_view albus_simd_target() { return albus::simd_target(); }
}  // namespace trireme
#endif  // HWY_ONCE
