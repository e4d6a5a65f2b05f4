// SPDX-License-Identifier: BSD-3-Clause
// Multiplies a window of diagonals. Like every -inl file of Highway, this file is included once per
// SIMD target: by simd.cpp.
#if defined(TRIREME_ALBUS_DIAGONALS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_ALBUS_DIAGONALS_INL
#undef TRIREME_ALBUS_DIAGONALS_INL
#else
#define TRIREME_ALBUS_DIAGONALS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/albus/layout.hpp"
#include "kernels/albus/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): Highway includes this file per instruction set.

// The rows of the last slice, which are fewer than kSliceRows. x and y begin at the first of them,
// and values at the slice, or at the values of every row where kRepeated.
template <bool kRepeated, class D, class Stored, class Value>
HWY_INLINE void MultiplyLastRows(D d, const Stored* HWY_RESTRICT values,
                                 const std::int32_t* HWY_RESTRICT offsets, std::int32_t length,
                                 std::int64_t rows, const Value* x, Value* y, bool add) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t lane = 0; lane < rows; lane += lanes) {
    const auto count = static_cast<std::size_t>(std::min(lanes, rows - lane));
    const auto product = [&](std::int32_t k, auto sum) HWY_ATTR {
      const auto xs = WidenedFirst(d, count, x + (lane + offsets[k]));
      if constexpr (kRepeated)
        return MultiplyAdd(d, hn::Set(d, static_cast<HostLaneOf<Value>>(values[k])), xs, sum);
      else
        return MultiplyAdd(d, WidenedFirst(d, count, values + (rows * k + lane)), xs, sum);
    };
    auto even = hn::Zero(d), odd = hn::Zero(d);
    std::int32_t k = 0;
    for (; k + 1 < length; k += 2) {
      even = product(k, even);
      odd = product(k + 1, odd);
    }
    if (k < length) even = product(k, even);
    auto sum = hn::Add(even, odd);
    if (add) sum = hn::Add(WidenedFirst(d, count, y + lane), sum);
    StoreFirstRounded(sum, d, count, y + lane);
  }
}

// `values` is the first slice; `row` is the window's first row. Values are prefetched `ahead`
// nonzeros before their use, or not at all where it is 0.
template <class Stored, class Value>
HWY_INLINE void MultiplyDiagonals(const Stored* HWY_RESTRICT values,
                                  const std::int32_t* HWY_RESTRICT offsets, Run run,
                                  std::int64_t row, const Value* x, Value* y, std::int64_t ahead,
                                  bool add) {
  const hn::CappedTag<HostLaneOf<Value>, kSliceRows> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const std::int64_t slice = std::int64_t{kSliceRows} * run.length;
  const std::int64_t last_rows = run.count % kSliceRows, end = row + run.count - last_rows;
  for (; row < end; row += kSliceRows, values += slice) {
    for (std::int32_t lane = 0; lane < kSliceRows; lane += lanes) {
      const std::int64_t first = row + lane;
      const bool fetch = ahead != 0 && lane == 0;
      const Stored* at = values + lane;
      auto even = hn::Zero(d), odd = hn::Zero(d);
      std::int32_t k = 0;
      for (; k + 1 < run.length; k += 2, at += 2 * kSliceRows) {
        if (fetch) PrefetchRange(at + ahead, 2 * kSliceRows);
        even = MultiplyAdd(d, Widened(d, at), Widened(d, x + (first + offsets[k])), even);
        odd = MultiplyAdd(d, Widened(d, at + kSliceRows), Widened(d, x + (first + offsets[k + 1])),
                          odd);
      }
      if (k < run.length) {
        if (fetch) PrefetchRange(at + ahead, kSliceRows);
        even = MultiplyAdd(d, Widened(d, at), Widened(d, x + (first + offsets[k])), even);
      }
      auto sum = hn::Add(even, odd);
      if (add) sum = hn::Add(Widened(d, y + first), sum);
      StoreRounded(sum, d, y + first);
    }
  }
  if (ahead != 0) PrefetchRange(values + ahead, last_rows * run.length);
  MultiplyLastRows<false>(d, values, offsets, run.length, last_rows, x + row, y + row, add);
}

// Rows that have the same values: as many vectors of rows as kVectors tells, so that each value is
// broadcast once for all of them. x and y begin at the first row.
template <int kVectors, class D, class Stored, class Value>
HWY_INLINE void MultiplyRepeatedRows(D d, const Stored* HWY_RESTRICT values,
                                     const std::int32_t* HWY_RESTRICT offsets, std::int32_t length,
                                     const Value* x, Value* y, bool add) {
  static_assert(kVectors == 1 || kVectors == 4);
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  // Named sums, because vectors of scalable targets cannot be elements of an array.
  auto even0 = hn::Zero(d), even1 = even0, even2 = even0, even3 = even0;
  auto odd0 = even0, odd1 = even0, odd2 = even0, odd3 = even0;
  const auto step = [&](std::int32_t k, auto& s0, [[maybe_unused]] auto& s1,
                        [[maybe_unused]] auto& s2, [[maybe_unused]] auto& s3) HWY_ATTR {
    const auto value = hn::Set(d, static_cast<HostLaneOf<Value>>(values[k]));
    const Value* const at = x + offsets[k];
    s0 = MultiplyAdd(d, value, Widened(d, at), s0);
    if constexpr (kVectors == 4) {
      s1 = MultiplyAdd(d, value, Widened(d, at + lanes), s1);
      s2 = MultiplyAdd(d, value, Widened(d, at + 2 * lanes), s2);
      s3 = MultiplyAdd(d, value, Widened(d, at + 3 * lanes), s3);
    }
  };
  const auto store = [&](auto sum, Value* to) HWY_ATTR {
    if (add) sum = hn::Add(Widened(d, to), sum);
    StoreRounded(sum, d, to);
  };
  std::int32_t k = 0;
  for (; k + 1 < length; k += 2) {
    step(k, even0, even1, even2, even3);
    step(k + 1, odd0, odd1, odd2, odd3);
  }
  if (k < length) step(k, even0, even1, even2, even3);
  store(hn::Add(even0, odd0), y);
  if constexpr (kVectors == 4) {
    store(hn::Add(even1, odd1), y + lanes);
    store(hn::Add(even2, odd2), y + 2 * lanes);
    store(hn::Add(even3, odd3), y + 3 * lanes);
  }
}

// `values` are those of each row of the window. The sums of a row have the order of
// MultiplyDiagonals. The entries of x that no row has read before, where columns ascend, and those
// of y are prefetched `ahead` rows before their use, or not at all where it is 0.
template <class Stored, class Value>
HWY_NOINLINE void MultiplyRepeatedDiagonals(const Stored* HWY_RESTRICT values,
                                            const std::int32_t* HWY_RESTRICT offsets, Run run,
                                            std::int64_t row, const Value* x, Value* y,
                                            std::int64_t ahead, bool add) {
  const hn::CappedTag<HostLaneOf<Value>, kSliceRows> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t end = row + run.count;
  const std::int64_t last_offset = offsets[run.length - 1];
  for (; row + 4 * lanes <= end; row += 4 * lanes) {
    if (ahead != 0) {
      PrefetchRange(x + (row + last_offset + ahead), 4 * lanes);
      PrefetchRange(y + (row + ahead), 4 * lanes);
    }
    MultiplyRepeatedRows<4>(d, values, offsets, run.length, x + row, y + row, add);
  }
  for (; row + lanes <= end; row += lanes)
    MultiplyRepeatedRows<1>(d, values, offsets, run.length, x + row, y + row, add);
  MultiplyLastRows<true>(d, values, offsets, run.length, end - row, x + row, y + row, add);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
