// SPDX-License-Identifier: BSD-3-Clause
// Multiplies a window of diagonals. Like every -inl file of Highway, this file is included once per
// SIMD target: by simd.cpp.
#if defined(TRIREME_ALBUS_DIAGONALS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_ALBUS_DIAGONALS_INL
#undef TRIREME_ALBUS_DIAGONALS_INL
#else
#define TRIREME_ALBUS_DIAGONALS_INL
#endif

#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/albus/layout.hpp"
#include "kernels/albus/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): Highway includes this file per instruction set.

// `values` is the first slice; `row` is the window's first row. Values are prefetched `ahead` nonzeros
// before their use, or not at all where it is 0.
template <class Stored, class Value>
HWY_INLINE void MultiplyDiagonals(const Stored* HWY_RESTRICT values,
                                  const std::int32_t* HWY_RESTRICT offsets, Run run,
                                  std::int64_t row, const Value* x, Value* y, std::int64_t ahead,
                                  bool add) {
  const hn::CappedTag<Value, kSliceRows> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const std::int64_t slice = std::int64_t{kSliceRows} * run.length;
  const std::int64_t end = row + run.count;
  for (; row < end; row += kSliceRows, values += slice) {
    for (std::int32_t lane = 0; lane < kSliceRows; lane += lanes) {
      const std::int64_t first = row + lane;
      const bool fetch = ahead != 0 && lane == 0;
      const Stored* at = values + lane;
      auto even = hn::Zero(d), odd = hn::Zero(d);
      std::int32_t k = 0;
      for (; k + 1 < run.length; k += 2, at += 2 * kSliceRows) {
        if (fetch) PrefetchRange(at + ahead, 2 * kSliceRows);
        even = MultiplyAdd(d, Widened(d, at), hn::LoadU(d, x + (first + offsets[k])), even);
        odd = MultiplyAdd(d, Widened(d, at + kSliceRows),
                          hn::LoadU(d, x + (first + offsets[k + 1])), odd);
      }
      if (k < run.length)
        even = MultiplyAdd(d, Widened(d, at), hn::LoadU(d, x + (first + offsets[k])), even);
      auto sum = hn::Add(even, odd);
      if (add) sum = hn::Add(hn::LoadU(d, y + first), sum);
      hn::StoreU(sum, d, y + first);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
