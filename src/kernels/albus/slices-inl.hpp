// SPDX-License-Identifier: BSD-3-Clause
// Multiplies a window of slices. Like every -inl file of Highway, this file is included once per
// SIMD target: by simd.cpp.
#if defined(TRIREME_ALBUS_SLICES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_ALBUS_SLICES_INL
#undef TRIREME_ALBUS_SLICES_INL
#else
#define TRIREME_ALBUS_SLICES_INL
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/albus/layout.hpp"
#include "kernels/albus/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): Highway includes this file per instruction set.

// The vector, with zeros in the lanes whose bit of `mask` is not set, from bit `lane` on.
template <class D>
HWY_INLINE hn::Vec<D> Masked(D d, std::uint8_t mask, std::int32_t lane, hn::Vec<D> v) {
  const std::uint8_t bits[8] = {static_cast<std::uint8_t>(mask >> lane)};
  return hn::IfThenElseZero(hn::LoadMaskBits(d, bits), v);
}

// The sums of the rows of a slice from `lane` on. x_of(step) is the vector of their entries of x.
template <bool kSorted, class D, class Stored, class XOf>
HWY_INLINE hn::Vec<D> SumSlice(D d, Steps steps, const Stored* HWY_RESTRICT values,
                               const std::uint8_t* HWY_RESTRICT masks, std::int32_t lane,
                               std::int64_t ahead, const XOf& x_of) {
  auto even = hn::Zero(d), odd = hn::Zero(d);
  const auto product = [&](std::int32_t k, hn::Vec<D> x, hn::Vec<D> sum) HWY_ATTR {
    const Stored* at = values + std::int64_t{kSliceRows} * k;
    if (ahead != 0) hwy::Prefetch(at + ahead);
    return MultiplyAdd(d, Widened(d, at + lane), x, sum);
  };
  std::int32_t k = 0;
  if constexpr (kSorted) {
    for (; k + 1 < steps.full; k += 2) {
      even = product(k, x_of(k), even);
      odd = product(k + 1, x_of(k + 1), odd);
    }
    if (k < steps.full) {
      even = product(k, x_of(k), even);
      ++k;
    }
  }
  if constexpr (kSorted) masks -= steps.full;
  for (; k + 1 < steps.all; k += 2) {
    even = product(k, Masked(d, masks[k], lane, x_of(k)), even);
    odd = product(k + 1, Masked(d, masks[k + 1], lane, x_of(k + 1)), odd);
  }
  if (k < steps.all) even = product(k, Masked(d, masks[k], lane, x_of(k)), even);
  return hn::Add(even, odd);
}

// RowOrder::masked_diagonals. `y` is that of the window's first row.
template <class Stored, class Value>
HWY_INLINE void MultiplyMaskedDiagonals(const Stored* HWY_RESTRICT values, const Part& part,
                                        const Window& window, const Value* x, Value* y,
                                        std::int64_t ahead, bool add) {
  const hn::CappedTag<HostLaneOf<Value>, kSliceRows> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const Steps* next = part.steps.data() + window.first_run;
  const std::uint8_t* masks = part.masks.data() + window.first_mask;
  const std::int32_t* offsets = part.offsets.data() + window.first_column;
  for (std::int32_t row = 0; row < window.rows; row += kSliceRows, y += kSliceRows) {
    const Steps steps = *next++;
    for (std::int32_t lane = 0; lane < kSliceRows; lane += lanes) {
      const std::int64_t first = window.first_row + row + lane;
      auto sum = SumSlice<false>(d, steps, values, masks, lane, ahead,
                                 [&](std::int32_t k)
                                     HWY_ATTR { return Widened(d, x + (first + offsets[k])); });
      if (add) sum = hn::Add(Widened(d, y + lane), sum);
      StoreRounded(sum, d, y + lane);
    }
    values += std::int64_t{kSliceRows} * steps.all;
    masks += steps.all;
    offsets += steps.all;
  }
}

// The same as Gather(), by one instruction.
template <class D, class Value>
HWY_INLINE hn::Vec<D> GatherAtOnce(D d, const Value* HWY_RESTRICT x,
                                   const std::uint16_t* HWY_RESTRICT columns) {
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
  return Gather(d, x, columns);
#else
  if constexpr (!std::is_same_v<Value, hn::TFromD<D>>) {
    return hn::PromoteTo(d, GatherAtOnce(hn::Rebind<Value, D>(), x, columns));
  } else {
    const hn::RebindToSigned<D> di;
    const hn::Rebind<std::int32_t, D> middle;
    const auto at = hn::PromoteTo(middle, hn::LoadU(hn::Rebind<std::uint16_t, D>(), columns));
    if constexpr (sizeof(Value) == sizeof(std::int32_t))
      return hn::GatherIndex(d, x, at);
    else
      return hn::GatherIndex(d, x, hn::PromoteTo(di, at));
  }
#endif
}

// RowOrder::sorted_slices. `x` is that of the window's base.
template <bool kAtOnce, class Stored, class Value>
HWY_INLINE void MultiplySortedSlices(const Stored* HWY_RESTRICT values, const Part& part,
                                     const Window& window, const Value* x, Value* y,
                                     std::int64_t ahead, bool add) {
  const hn::CappedTag<HostLaneOf<Value>, kSliceRows> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const Steps* next = part.steps.data() + window.first_run;
  const std::uint8_t* masks = part.masks.data() + window.first_mask;
  const std::uint16_t* columns = part.narrow_col_idx.data() + window.first_column;
  const std::uint16_t* rows = part.slice_rows.data() + window.first_slot;
  for (std::int32_t left = window.rows; left > 0; left -= kSliceRows, rows += kSliceRows) {
    const Steps steps = *next++;
    HWY_ALIGN HostLaneOf<Value> sums[kSliceRows];
    for (std::int32_t lane = 0; lane < kSliceRows; lane += lanes) {
      const auto sum =
          SumSlice<true>(d, steps, values, masks, lane, ahead, [&](std::int32_t k) HWY_ATTR {
            const std::uint16_t* const at = columns + std::int64_t{kSliceRows} * k + lane;
            if constexpr (kAtOnce)
              return GatherAtOnce(d, x, at);
            else
              return Gather(d, x, at);
          });
      hn::StoreU(sum, d, sums + lane);
    }
    const std::int32_t last = left < kSliceRows ? left : kSliceRows;
    for (std::int32_t lane = 0; lane < last; ++lane) {
      Value& to = y[rows[lane]];
      const auto sum = static_cast<Sum<Value>>(sums[lane]);
      to = static_cast<Value>(add ? static_cast<Sum<Value>>(to) + sum : sum);
    }
    values += std::int64_t{kSliceRows} * steps.all;
    masks += steps.all - steps.full;
    columns += std::int64_t{kSliceRows} * steps.all;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
