// SPDX-License-Identifier: BSD-3-Clause
// Copies the values of diagonals from rows into slices. The code between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE is compiled once per SIMD target, as in simd.cpp. The lanes of a vector are the
// rows of a slice, which lie one row apart.
#include <type_traits>

#include "kernels/albus/diagonals.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/albus/simd_slices.cpp"
#include "hwy/foreach_target.h"

#include "hwy/cache_control.h"
#include "hwy/highway.h"

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
  for (std::int32_t row = 0; row < run.count; row += kSliceRows) {
    for (std::int32_t k = 0; k < run.length; ++k, to += kSliceRows) {
      hwy::Prefetch(from + kAhead + std::int64_t{kSliceRows} * k);
      for (std::int32_t lane = 0; lane < kSliceRows; lane += lanes)
        Store(d, hn::GatherIndex(d, from + std::int64_t{lane} * run.length + k, rows), to + lane,
              lost);
    }
    from += std::int64_t{kSliceRows} * run.length;
  }
  return hn::AllTrue(bits, hn::Eq(lost, hn::Zero(bits)));
}

}  // namespace

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

}  // namespace trireme::albus
#endif  // HWY_ONCE
