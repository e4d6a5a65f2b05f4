// SPDX-License-Identifier: BSD-3-Clause
// Copies the values of diagonals and of slices from rows into slices. The code between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE is compiled once per SIMD target, as in simd.cpp.
// The lanes of a vector are the rows of a slice.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/albus/diagonals.hpp"
#include "kernels/albus/simd_targets.hpp"
#include "kernels/albus/slices.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/albus/simd_slices.cpp"
#include "hwy/foreach_target.h"

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/albus/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kAhead = 512;  // nonzeros between the prefetch of an entry and its use

// Stores the vector in a narrower type. Adds the bits that this changes to `lost`.
template <class D, class Value>
HWY_INLINE void Store(D d, hn::Vec<D> values, Value* to, hn::Vec<hn::RebindToUnsigned<D>>& lost) {
  if constexpr (std::is_same_v<Value, hn::TFromD<D>>) {
    hn::StoreU(values, d, to);
  } else {
    const hn::RebindToUnsigned<D> bits;
    const hn::Rebind<Value, D> narrow;
    const auto rounded = hn::DemoteTo(narrow, values);
    const auto changed =
        hn::Xor(hn::BitCast(bits, hn::PromoteTo(d, rounded)), hn::BitCast(bits, values));
    lost = hn::Or(lost, changed);
    hn::StoreU(rounded, narrow, to);
  }
}

template <class From, class Value>
HWY_INLINE bool PlaceDiagonals(const From* HWY_RESTRICT from, Run run, Value* HWY_RESTRICT to) {
  const hn::CappedTag<From, kSliceRows> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToUnsigned<decltype(d)> bits;
  using Index = hn::TFromD<decltype(di)>;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const auto rows = hn::Mul(hn::Iota(di, Index{0}), hn::Set(di, static_cast<Index>(run.length)));
  auto lost = hn::Zero(bits);
  const std::int32_t last_rows = run.count % kSliceRows;
  for (std::int32_t row = 0; row < run.count - last_rows; row += kSliceRows) {
    for (std::int32_t k = 0; k < run.length; ++k, to += kSliceRows) {
      hwy::Prefetch(from + kAhead + std::int64_t{kSliceRows} * k);
      for (std::int32_t lane = 0; lane < kSliceRows; lane += lanes)
        Store(d, hn::GatherIndex(d, from + std::int64_t{lane} * run.length + k, rows), to + lane,
              lost);
    }
    from += std::int64_t{kSliceRows} * run.length;
  }
  using Bits = hwy::MakeUnsigned<From>;
  bool exact = hn::AllTrue(bits, hn::Eq(lost, hn::Zero(bits)));
  for (std::int32_t k = 0; k < run.length; ++k)
    for (std::int32_t lane = 0; lane < last_rows; ++lane, ++to) {
      const From value = from[std::int64_t{lane} * run.length + k];
      *to = static_cast<Value>(value);
      const auto stored = static_cast<From>(*to);
      exact &= std::bit_cast<Bits>(stored) == std::bit_cast<Bits>(value);
    }
  return exact;
}

// A row's nonzeros are taken in their order, each in the next step that has the row.
template <class From, class Value>
HWY_INLINE void PlaceSlices(const Pattern& pattern, const Part& part, const Window& window,
                            const From* HWY_RESTRICT from, Value* HWY_RESTRICT to) {
  const hn::CappedTag<From, kSliceRows> d;
  const hn::RebindToSigned<decltype(d)> di;
  using Index = hn::TFromD<decltype(di)>;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const std::int32_t* const row_ptr = pattern.row_ptr.data() + window.first_row;
  const std::uint8_t* masks = part.masks.data() + window.first_mask;
  const bool sorted = window.order == RowOrder::sorted_slices;
  const Value* const window_to = to;
  // Sorted rows are read in any order: those of the next window are fetched.
  const std::int64_t ahead = sorted ? row_ptr[window.rows] - row_ptr[0] : kAhead;
  for (std::int32_t slice = 0; slice < window.runs; ++slice) {
    const Steps steps = part.steps[window.first_run + slice];
    const std::int32_t first = slice * kSliceRows;
    HWY_ALIGN std::int32_t begin[kSliceRows] = {};
    if (sorted)
      for (std::int32_t lane = 0; lane < std::min(kSliceRows, window.rows - first); ++lane)
        begin[lane] = row_ptr[part.slice_rows[window.first_slot + first + lane]];
    const std::int32_t* const begins = sorted ? begin : row_ptr + first;
    for (std::int32_t lane = 0; lane < kSliceRows; lane += lanes) {
      auto at = hn::Sub(Widened(di, begins + lane), hn::Set(di, Index{window.first_nonzero}));
      for (std::int32_t k = 0; k < steps.all; ++k) {
        const int mask = k < steps.full ? 0xff : masks[k - steps.full];
        const std::uint8_t bits[8] = {static_cast<std::uint8_t>(mask >> lane)};
        const auto takes_part = hn::LoadMaskBits(di, bits);
        const auto values =
            hn::IfThenElseZero(hn::RebindMask(d, takes_part),
                               hn::GatherIndex(d, from, hn::IfThenElseZero(takes_part, at)));
        Value* const step = to + std::int64_t{kSliceRows} * k + lane;
        hwy::Prefetch(from + ahead + (step - window_to));
        hwy::Prefetch(step + kAhead);
        if constexpr (std::is_same_v<Value, From>)
          hn::StoreU(values, d, step);
        else
          hn::StoreU(hn::DemoteTo(hn::Rebind<Value, decltype(d)>(), values),
                     hn::Rebind<Value, decltype(d)>(), step);
        at = hn::Add(at, hn::IfThenElseZero(takes_part, hn::Set(di, Index{1})));
      }
    }
    masks += steps.all - steps.full;
    to += std::int64_t{kSliceRows} * steps.all;
  }
}

}  // namespace

void SliceDoubles(const Pattern& pattern, const Part& part, const Window& window,
                  const double* from, double* to) {
  PlaceSlices(pattern, part, window, from, to);
}
void SliceRounded(const Pattern& pattern, const Part& part, const Window& window,
                  const double* from, float* to) {
  PlaceSlices(pattern, part, window, from, to);
}
void SliceFloats(const Pattern& pattern, const Part& part, const Window& window, const float* from,
                 float* to) {
  PlaceSlices(pattern, part, window, from, to);
}
void SliceInts(const Pattern& pattern, const Part& part, const Window& window,
               const std::int32_t* from, std::int32_t* to) {
  PlaceSlices(pattern, part, window, from, to);
}

bool PlaceDoubles(const double* from, Run run, double* to) { return PlaceDiagonals(from, run, to); }
bool PlaceRounded(const double* from, Run run, float* to) { return PlaceDiagonals(from, run, to); }
bool PlaceFloats(const float* from, Run run, float* to) { return PlaceDiagonals(from, run, to); }
bool PlaceInts(const std::int32_t* from, Run run, std::int32_t* to) {
  return PlaceDiagonals(from, run, to);
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::albus {
namespace {

HWY_EXPORT(PlaceDoubles);
HWY_EXPORT(PlaceRounded);
HWY_EXPORT(PlaceFloats);
HWY_EXPORT(PlaceInts);
HWY_EXPORT(SliceDoubles);
HWY_EXPORT(SliceRounded);
HWY_EXPORT(SliceFloats);
HWY_EXPORT(SliceInts);

}  // namespace

bool place_diagonals(const double* from, Run run, double* to) {
  return HWY_DYNAMIC_DISPATCH(PlaceDoubles)(from, run, to);
}
bool place_diagonals(const double* from, Run run, float* to) {
  return HWY_DYNAMIC_DISPATCH(PlaceRounded)(from, run, to);
}
bool place_diagonals(const float* from, Run run, float* to) {
  return HWY_DYNAMIC_DISPATCH(PlaceFloats)(from, run, to);
}
bool place_diagonals(const std::int32_t* from, Run run, std::int32_t* to) {
  return HWY_DYNAMIC_DISPATCH(PlaceInts)(from, run, to);
}

void place_slices(const Pattern& pattern, const Part& part, const Window& window,
                  const double* from, double* to) {
  HWY_DYNAMIC_DISPATCH(SliceDoubles)(pattern, part, window, from, to);
}
void place_slices(const Pattern& pattern, const Part& part, const Window& window,
                  const double* from, float* to) {
  HWY_DYNAMIC_DISPATCH(SliceRounded)(pattern, part, window, from, to);
}
void place_slices(const Pattern& pattern, const Part& part, const Window& window, const float* from,
                  float* to) {
  HWY_DYNAMIC_DISPATCH(SliceFloats)(pattern, part, window, from, to);
}
void place_slices(const Pattern& pattern, const Part& part, const Window& window,
                  const std::int32_t* from, std::int32_t* to) {
  HWY_DYNAMIC_DISPATCH(SliceInts)(pattern, part, window, from, to);
}

}  // namespace trireme::albus
#endif  // HWY_ONCE
