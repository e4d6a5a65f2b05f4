// SPDX-License-Identifier: BSD-3-Clause
// The sum of the products of a row in SIMD instructions. Like every -inl file of Highway, this file
// is included once per SIMD target: by simd.cpp, simd_rows.cpp and simd_vectors.cpp.
#if defined(TRIREME_ALBUS_ROW_SUM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_ALBUS_ROW_SUM_INL
#undef TRIREME_ALBUS_ROW_SUM_INL
#else
#define TRIREME_ALBUS_ROW_SUM_INL
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/host_sum.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): Highway includes this file per instruction set.

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int kCacheLine = 64;

template <class Value>
using Sum = HostSumOf<Value>;

template <class Stored, class Value>
HWY_INLINE Sum<Value> Product(Stored a, Value b) {
  return static_cast<Sum<Value>>(a) * static_cast<Sum<Value>>(b);
}

// Loads a vector of values or of entries of x or y, and widens those that are stored in a narrower
// type than that of the lanes, which sum.
template <class D, class Stored>
HWY_INLINE hn::Vec<D> Widened(D d, const Stored* HWY_RESTRICT values) {
  if constexpr (std::is_same_v<Stored, hn::TFromD<D>>)
    return hn::LoadU(d, values);
  else
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<Stored, D>(), values));
}

// Stores a vector of sums, rounded where y is narrower.
template <class D, class Value>
HWY_INLINE void StoreRounded(hn::Vec<D> sums, D d, Value* HWY_RESTRICT y) {
  if constexpr (std::is_same_v<Value, hn::TFromD<D>>)
    hn::StoreU(sums, d, y);
  else
    hn::StoreU(hn::DemoteTo(hn::Rebind<Value, D>(), sums), hn::Rebind<Value, D>(), y);
}

// The first `count` numbers, and zeros in the other lanes. Only some instruction sets have a masked
// load that takes any address and reads no other numbers; the others copy.
template <class D>
HWY_INLINE hn::Vec<D> LoadFirst(D d, std::size_t count, const hn::TFromD<D>* HWY_RESTRICT from) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_HAVE_SCALABLE
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN hn::TFromD<D> numbers[hn::MaxLanes(d)] = {};
  for (std::size_t i = 0; i < count; ++i) numbers[i] = from[i];
  return hn::Load(d, numbers);
#endif
}

// Stores the first `count` lanes, and reads and writes no other numbers.
template <class D>
HWY_INLINE void StoreFirst(hn::Vec<D> numbers, D d, std::size_t count,
                           hn::TFromD<D>* HWY_RESTRICT to) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_HAVE_SCALABLE
  hn::BlendedStore(numbers, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN hn::TFromD<D> all[hn::MaxLanes(d)];
  hn::Store(numbers, d, all);
  for (std::size_t i = 0; i < count; ++i) to[i] = all[i];
#endif
}

// The first `count` values, widened as by Widened(), and zeros in the other lanes.
template <class D, class Stored>
HWY_INLINE hn::Vec<D> WidenedFirst(D d, std::size_t count, const Stored* HWY_RESTRICT values) {
  if constexpr (std::is_same_v<Stored, hn::TFromD<D>>)
    return LoadFirst(d, count, values);
  else
    return hn::PromoteTo(d, LoadFirst(hn::Rebind<Stored, D>(), count, values));
}

// Stores the first `count` sums, rounded as by StoreRounded().
template <class D, class Value>
HWY_INLINE void StoreFirstRounded(hn::Vec<D> sums, D d, std::size_t count, Value* HWY_RESTRICT y) {
  if constexpr (std::is_same_v<Value, hn::TFromD<D>>) {
    StoreFirst(sums, d, count, y);
  } else {
    const hn::Rebind<Value, D> narrow;
    StoreFirst(hn::DemoteTo(narrow, sums), narrow, count, y);
  }
}

template <class T>
HWY_INLINE void PrefetchRange(const T* begin, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kCacheLine / static_cast<std::int64_t>(sizeof(T)))
    hwy::Prefetch(begin + i);
}

// Returns the vector of x[columns[i]] for 0 <= i < lanes, widened as by Widened().
template <class D, class Value, class Index>
HWY_INLINE hn::Vec<D> Gather(D d, const Value* HWY_RESTRICT x, const Index* HWY_RESTRICT columns) {
  if constexpr (!std::is_same_v<Value, hn::TFromD<D>>) {
    return hn::PromoteTo(d, Gather(hn::Rebind<Value, D>(), x, columns));
  } else {
#if HWY_HAVE_SCALABLE
    const hn::RebindToSigned<D> di;
    using Lane = hn::TFromD<decltype(di)>;
    if constexpr (sizeof(Index) == sizeof(Lane)) {
      return hn::GatherIndex(d, x, hn::LoadU(di, reinterpret_cast<const Lane*>(columns)));
    } else {
      HWY_ALIGN Lane wide[HWY_MAX_BYTES / sizeof(Lane)];
      for (std::size_t i = 0; i < hn::Lanes(d); ++i) wide[i] = columns[i];
      return hn::GatherIndex(d, x, hn::Load(di, wide));
    }
#elif HWY_TARGET == HWY_SCALAR
    return hn::Set(d, x[columns[0]]);
#else
    constexpr std::size_t kLanes = hn::MaxLanes(d);
    if constexpr (kLanes == 1) {
      return hn::LoadU(d, x + columns[0]);
    } else {
      const hn::Half<D> half;
      return hn::Combine(d, Gather(half, x, columns + kLanes / 2), Gather(half, x, columns));
    }
#endif
  }
}

template <class D, class V>
HWY_INLINE V MultiplyAdd(D, V a, V b, V sum) {
  if constexpr (std::is_integral_v<hn::TFromD<D>>)
    return hn::Add(hn::Mul(a, b), sum);
  else
    return hn::MulAdd(a, b, sum);
}

// The sum of values[k] x[columns[k]] over 0 <= k < count, for a long row or a piece of one. Values
// and columns are prefetched kAheadBy nonzeros before their use, or not at all where it is 0.
template <std::int64_t kAheadBy = 0, class Stored, class Value, class Index>
HWY_INLINE Sum<Value> RowSum(std::int64_t count, const Stored* HWY_RESTRICT values,
                             const Index* HWY_RESTRICT columns, const Value* HWY_RESTRICT x) {
  const hn::ScalableTag<HostLaneOf<Value>> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::int64_t k = 0;
  for (; k + 2 * lanes <= count; k += 2 * lanes) {
    if constexpr (kAheadBy != 0) {
      PrefetchRange(values + k + kAheadBy, 2 * lanes);
      hwy::Prefetch(columns + k + kAheadBy);
    }
    even = MultiplyAdd(d, Widened(d, values + k), Gather(d, x, columns + k), even);
    odd = MultiplyAdd(d, Widened(d, values + k + lanes), Gather(d, x, columns + k + lanes), odd);
  }
  if (k + lanes <= count) {
    even = MultiplyAdd(d, Widened(d, values + k), Gather(d, x, columns + k), even);
    k += lanes;
  }
  Sum<Value> rest{};
  for (; k < count; ++k) rest += Product(values[k], x[columns[k]]);
  return static_cast<Sum<Value>>(hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)))) + rest;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
