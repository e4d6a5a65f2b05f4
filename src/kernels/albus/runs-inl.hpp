// SPDX-License-Identifier: BSD-3-Clause
// Runs of rows of the same length in SIMD instructions. Like every -inl file of Highway, this file
// is included once per SIMD target: by simd.cpp.
#if defined(TRIREME_ALBUS_RUNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_ALBUS_RUNS_INL
#undef TRIREME_ALBUS_RUNS_INL
#else
#define TRIREME_ALBUS_RUNS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/albus/layout.hpp"
#include "kernels/albus/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): Highway includes this file per instruction set.

inline constexpr std::int64_t kAhead = 512;  // nonzeros: one window

// The operands of a window or a tile: pointers to its first nonzero, its base column and its first
// row. y may be wider than x.
template <class Stored, class Value, class Index, class Result = Value>
struct Operands {
  const Stored* values;
  const Index* columns;
  const Value* x;
  Result* y;
  std::int64_t ahead;       // nonzeros between a prefetch and its use; 0: no prefetch
  std::int64_t rows_ahead;  // the same for RowOrder::rows; groups are read row by row where not 0
  bool fetch_rows;          // rows of more than 15 nonzeros and groups are prefetched, too
  bool add;                 // y += A x, otherwise y = A x

  HWY_INLINE void store(std::int64_t row, Sum<Value> sum) const {
    y[row] = static_cast<Result>(add ? static_cast<Sum<Value>>(y[row]) + sum : sum);
  }
  HWY_INLINE void prefetch(std::int64_t nonzero, std::int64_t count) const {
    PrefetchRange(values + nonzero + ahead, count);
    PrefetchRange(columns + nonzero + ahead, count);
  }
  HWY_INLINE Sum<Value> row_sum(std::int64_t nonzero, std::int32_t length) const {
    return fetch_rows ? RowSum<kAhead>(length, values + nonzero, columns + nonzero, x)
                      : RowSum(length, values + nonzero, columns + nonzero, x);
  }
};

// InOrder and BySlot tell where row i of a run lies, relative to the window of the run.
struct InOrder {
  std::int64_t first_nonzero, first_row;
  std::int32_t length;
  HWY_INLINE std::int64_t nonzero(std::int32_t i) const {
    return first_nonzero + std::int64_t{length} * i;
  }
  HWY_INLINE std::int64_t row(std::int32_t i) const { return first_row + i; }
};
struct BySlot {
  const Slot* slots;
  HWY_INLINE std::int64_t nonzero(std::int32_t i) const { return slots[i].offset; }
  HWY_INLINE std::int64_t row(std::int32_t i) const { return slots[i].row; }
};

// Multiplies a run of rows of kLength nonzeros. `passed` is the number of nonzeros of the window
// before the run.
template <int kLength, class Place, class Stored, class Value, class Index, class Result>
HWY_NOINLINE void MultiplyShortRun(const Operands<Stored, Value, Index, Result> a, Place place,
                                   std::int32_t count, std::int64_t passed) {
  // One prefetch per kRows rows, which begin and end at cache lines, so that no line is fetched
  // twice.
  constexpr std::int32_t kRows = 8;
  for (std::int32_t i = 0; i < count;) {
    if (a.ahead != 0) a.prefetch(passed + std::int64_t{kLength} * i, kRows * kLength);
    const std::int32_t block_end = std::min(count, i + kRows);
    for (; i < block_end; ++i) {
      const Stored* values = a.values + place.nonzero(i);
      const Index* columns = a.columns + place.nonzero(i);
      Sum<Value> even{}, odd{};
      HWY_UNROLL(16)
      for (int k = 0; k + 1 < kLength; k += 2) {
        even += Product(values[k], a.x[columns[k]]);
        odd += Product(values[k + 1], a.x[columns[k + 1]]);
      }
      if constexpr (kLength % 2 != 0)
        even += Product(values[kLength - 1], a.x[columns[kLength - 1]]);
      a.store(place.row(i), even + odd);
    }
  }
}

template <class Place, class Stored, class Value, class Index, class Result>
HWY_INLINE void MultiplyRun(const Operands<Stored, Value, Index, Result> a, std::int32_t length,
                            Place place, std::int32_t count, std::int64_t passed) {
  switch (length) {
#define TRIREME_SHORT_RUN(L) \
  case L:                    \
    return MultiplyShortRun<L>(a, place, count, passed);
    TRIREME_SHORT_RUN(0)
    TRIREME_SHORT_RUN(1)
    TRIREME_SHORT_RUN(2)
    TRIREME_SHORT_RUN(3)
    TRIREME_SHORT_RUN(4)
    TRIREME_SHORT_RUN(5)
    TRIREME_SHORT_RUN(6)
    TRIREME_SHORT_RUN(7)
    TRIREME_SHORT_RUN(8)
    TRIREME_SHORT_RUN(9)
    TRIREME_SHORT_RUN(10)
    TRIREME_SHORT_RUN(11)
    TRIREME_SHORT_RUN(12)
    TRIREME_SHORT_RUN(13)
    TRIREME_SHORT_RUN(14)
    TRIREME_SHORT_RUN(15)
#undef TRIREME_SHORT_RUN
    default:
      for (std::int32_t i = 0; i < count; ++i)
        a.store(place.row(i), a.row_sum(place.nonzero(i), length));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
