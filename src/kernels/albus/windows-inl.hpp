// SPDX-License-Identifier: BSD-3-Clause
// Multiplies one window of the ALBUS layout. Like every -inl file of Highway, this file is included
// once per SIMD target: by simd.cpp.
#if defined(TRIREME_ALBUS_WINDOWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIREME_ALBUS_WINDOWS_INL
#undef TRIREME_ALBUS_WINDOWS_INL
#else
#define TRIREME_ALBUS_WINDOWS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/albus/layout.hpp"
#include "kernels/albus/runs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {  // NOLINT(google-build-namespaces): Highway includes this file per instruction set.

// RowOrder::rows. The last vector of a row is masked, so that only one branch per row is hard to
// predict: the number of vectors. A masked vector reads beyond its row. The last rows of the window
// are therefore summed without masks.
template <class Stored, class Value, class Index>
HWY_INLINE void MultiplyMaskedRows(const Operands<Stored, Value, Index> a, std::int32_t rows,
                                   const std::int32_t* row_ptr) {
  const hn::CappedTag<HostLaneOf<Value>, 4> d;
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
  const hn::ScalableTag<HostLaneOf<Value>> d;
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
    if (a.fetch_rows) {
      PrefetchRange(values + kAhead, std::int64_t{length} * run->count);
      PrefetchRange(columns + kAhead, length);
    } else if (a.rows_ahead != 0) {
      // Without prefetches, values that come from memory are read one row at a time: several
      // parallel streams would defeat the hardware prefetcher.
      for (; left > 0; --left, ++row, values += length)
        a.store(row, RowSum(length, values, columns, a.x));
    }
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
