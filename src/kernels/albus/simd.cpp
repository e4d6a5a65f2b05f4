// SPDX-License-Identifier: BSD-3-Clause
// Multiplies one part of the ALBUS layout by x. The code between HWY_BEFORE_NAMESPACE and
// HWY_AFTER_NAMESPACE is compiled once per SIMD target that Highway knows on this platform. The
// best target is selected at run time.
//
// Runs of rows of up to 15 nonzeros have scalar code, unrolled for their length, because a vector
// would spend more on the sum of its lanes than it saves. Longer rows use full vectors in two
// accumulators. One scalar load per lane gathers x, because a hardware gather is slower on several
// current CPUs. Values and columns that come from memory are prefetched kAhead nonzeros before
// their use; a plain CSR loop spends most of its time waiting for them.
#include <algorithm>
#include <type_traits>

#include "kernels/albus/albus.hpp"
#include "kernels/albus/multiply_part.hpp"

// These targets gain nothing over the next lower target and would only take compile time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/albus/simd.cpp"
#include "hwy/foreach_target.h"

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/albus/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kAhead = 512;  // nonzeros: one window

// The operands of a window: pointers to its first nonzero, its base column and its first row.
template <class Stored, class Value, class Index>
struct Operands {
  const Stored* values;
  const Index* columns;
  const Value* x;
  Value* y;
  std::int64_t ahead;       // nonzeros between a prefetch and its use; 0: no prefetch
  std::int64_t rows_ahead;  // the same for RowOrder::rows and RowOrder::groups
  bool add;                 // y += A x, otherwise y = A x

  HWY_INLINE void store(std::int64_t row, Sum<Value> sum) const {
    y[row] = static_cast<Value>(add ? static_cast<Sum<Value>>(y[row]) + sum : sum);
  }
  HWY_INLINE void prefetch(std::int64_t nonzero, std::int64_t count) const {
    PrefetchRange(values + nonzero + ahead, count);
    PrefetchRange(columns + nonzero + ahead, count);
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
template <int kLength, class Place, class Stored, class Value, class Index>
HWY_INLINE void MultiplyShortRun(const Operands<Stored, Value, Index> a, Place place,
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

template <class Place, class Stored, class Value, class Index>
HWY_INLINE void MultiplyRun(const Operands<Stored, Value, Index> a, std::int32_t length,
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
        a.store(place.row(i),
                RowSum(length, a.values + place.nonzero(i), a.columns + place.nonzero(i), a.x));
  }
}

// RowOrder::rows. The last vector of a row is masked, so that only one branch per row is hard to
// predict: the number of vectors. A masked vector reads beyond its row. The last rows of the window
// are therefore summed without masks.
template <class Stored, class Value, class Index>
HWY_INLINE void MultiplyMaskedRows(const Operands<Stored, Value, Index> a, std::int32_t rows,
                                   const std::int32_t* row_ptr) {
  const hn::CappedTag<Value, 4> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const std::int32_t first = row_ptr[0];
  std::int32_t safe_rows = rows;
  while (safe_rows > 0 && row_ptr[safe_rows] + lanes > row_ptr[rows]) --safe_rows;
  for (std::int32_t row = 0; row < safe_rows; ++row) {
    const std::int32_t begin = row_ptr[row] - first;
    const std::int32_t count = row_ptr[row + 1] - row_ptr[row];
    const Stored* values = a.values + begin;
    const Index* columns = a.columns + begin;
    if (a.rows_ahead != 0) a.prefetch(begin, count);
    auto sum = hn::Zero(d);
    std::int32_t k = 0;
    for (; k + lanes < count; k += lanes)
      sum = MultiplyAdd(d, Widened(d, values + k), Gather(d, a.x, columns + k), sum);
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(count - k));
    sum = MultiplyAdd(d, hn::IfThenElseZero(mask, Widened(d, values + k)),
                      hn::IfThenElseZero(mask, Gather(d, a.x, columns + k)), sum);
    a.store(row, static_cast<Sum<Value>>(hn::GetLane(hn::SumOfLanes(d, sum))));
  }
  for (std::int32_t row = safe_rows; row < rows; ++row) {
    const std::int32_t begin = row_ptr[row] - first;
    a.store(row, RowSum(row_ptr[row + 1] - row_ptr[row], a.values + begin, a.columns + begin, a.x));
  }
}

// Multiplies kRows rows that have the same columns. The values of a row follow those of the row
// before. Each vector of x is gathered once.
template <int kRows, class Stored, class Value, class Index>
HWY_INLINE void MultiplyGroupedRows(const Operands<Stored, Value, Index> a, std::int32_t length,
                                    const Stored* HWY_RESTRICT values,
                                    const Index* HWY_RESTRICT columns, std::int64_t row) {
  static_assert(kRows == 2 || kRows == 3);
  const hn::ScalableTag<Value> d;
  const auto lanes = static_cast<std::int32_t>(hn::Lanes(d));
  const Stored* HWY_RESTRICT values1 = values + length;
  const Stored* HWY_RESTRICT values2 = values + (kRows - 1) * std::int64_t{length};
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d);
  std::int32_t k = 0;
  for (; k + lanes <= length; k += lanes) {
    const auto x = Gather(d, a.x, columns + k);
    sum0 = MultiplyAdd(d, Widened(d, values + k), x, sum0);
    sum1 = MultiplyAdd(d, Widened(d, values1 + k), x, sum1);
    if constexpr (kRows == 3) sum2 = MultiplyAdd(d, Widened(d, values2 + k), x, sum2);
  }
  Sum<Value> rest0{}, rest1{}, rest2{};
  for (; k < length; ++k) {
    const Value x = a.x[columns[k]];
    rest0 += Product(values[k], x);
    rest1 += Product(values1[k], x);
    if constexpr (kRows == 3) rest2 += Product(values2[k], x);
  }
  const auto total = [&](auto sum) {
    return static_cast<Sum<Value>>(hn::GetLane(hn::SumOfLanes(d, sum)));
  };
  a.store(row, total(sum0) + rest0);
  a.store(row + 1, total(sum1) + rest1);
  if constexpr (kRows == 3) a.store(row + 2, total(sum2) + rest2);
}

// RowOrder::groups. Narrow columns are stored once per group, the columns of the CSR once per row.
template <class Stored, class Value, class Index>
HWY_INLINE void MultiplyGroups(const Operands<Stored, Value, Index> a, const Run* run,
                               const Run* last, bool narrow) {
  const Stored* values = a.values;
  const Index* columns = a.columns;
  std::int64_t row = 0;
  for (; run != last; ++run) {
    const std::int32_t length = run->length;
    std::int32_t left = run->count;
    // Values that come from memory are read one row at a time: several parallel streams would
    // defeat the hardware prefetcher.
    if (a.rows_ahead != 0)
      for (; left > 0; --left, ++row, values += length)
        a.store(row, RowSum(length, values, columns, a.x));
    for (; left == 3 || left > 4; left -= 3, row += 3, values += 3 * std::int64_t{length})
      MultiplyGroupedRows<3>(a, length, values, columns, row);
    for (; left > 0; left -= 2, row += 2, values += 2 * std::int64_t{length})
      MultiplyGroupedRows<2>(a, length, values, columns, row);
    columns += narrow ? length : std::int64_t{length} * run->count;
  }
}

template <class Stored, class Value, class Index>
void MultiplyWindow(const Operands<Stored, Value, Index> a, const Part& part, const Window& window,
                    const std::int32_t* row_ptr) {
  if (window.order == RowOrder::rows)
    return MultiplyMaskedRows(a, window.rows, row_ptr + window.first_row);
  const Run* run = part.runs.data() + window.first_run;
  const Run* const last = run + window.runs;
  if (window.order == RowOrder::groups) return MultiplyGroups(a, run, last, window.narrow);
  std::int64_t passed_nonzeros = 0, passed_rows = 0;
  for (; run != last; ++run) {
    if (window.order == RowOrder::sorted)
      MultiplyRun(a, run->length, BySlot{part.slots.data() + window.first_slot + passed_rows},
                  run->count, passed_nonzeros);
    else
      MultiplyRun(a, run->length, InOrder{passed_nonzeros, passed_rows, run->length}, run->count,
                  passed_nonzeros);
    passed_nonzeros += std::int64_t{run->length} * run->count;
    passed_rows += run->count;
  }
}

// The descriptions of the next windows are small, but a window needs them before all other data.
HWY_INLINE void PrefetchDescriptions(const Part& part, std::size_t window) {
  constexpr std::size_t kWindowsAhead = 2;
  if (window + 3 * kWindowsAhead < part.windows.size())
    hwy::Prefetch(&part.windows[window + 3 * kWindowsAhead]);
  if (window + kWindowsAhead >= part.windows.size()) return;
  const Window& next = part.windows[window + kWindowsAhead];
  hwy::Prefetch(part.runs.data() + next.first_run);
  if (next.order == RowOrder::sorted) PrefetchRange(part.slots.data() + next.first_slot, next.rows);
}

template <class Stored, class Value>
HWY_INLINE Value MultiplyPart(const Layout<Stored>& layout, const Part& part, const Value* x,
                              Value* y, bool add) {
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
  for (std::size_t i = 0; i < part.windows.size(); ++i) {
    const Window& window = part.windows[i];
    const std::int32_t first = window.first_nonzero;
    Value* window_y = y + window.first_row;
    if (ahead != 0) PrefetchDescriptions(part, i);
    if (window.narrow) {
      const std::uint16_t* narrow = part.narrow_col_idx.data() + window.first_column;
      MultiplyWindow(Operands<Stored, Value, std::uint16_t>{values + first, narrow, x + window.base,
                                                            window_y, ahead, rows_ahead, add},
                     part, window, row_ptr);
    } else {
      MultiplyWindow(Operands<Stored, Value, std::int32_t>{values + first, col_idx + first, x,
                                                           window_y, ahead, rows_ahead, add},
                     part, window, row_ptr);
    }
  }
  if (part.has_tail()) {
    const Operands<Stored, Value, std::int32_t> a{values, col_idx, x, y, 0, 0, add};
    a.store(part.end - 1, piece(part.tail_begin, part.end1));
  }
  return static_cast<Value>(head);
}

}  // namespace

// The table of targets of Highway takes plain functions, not templates.
double MultiplyPartDouble(const Layout<double>& layout, const Part& part, const double* x,
                          double* y, bool add) {
  return MultiplyPart(layout, part, x, y, add);
}
float MultiplyPartFloat(const Layout<float>& layout, const Part& part, const float* x, float* y,
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
float multiply_part(const Layout<float>& layout, const Part& part, const float* x, float* y,
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
