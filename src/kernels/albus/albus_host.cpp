// SPDX-License-Identifier: BSD-3-Clause
// Multiplies by the ALBUS layout. The code between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE is
// compiled once for every SIMD target that Highway knows here; the best one is chosen at run time.
//
// Rows of up to kUnrolled nonzeros: a loop over the rows of a run, unrolled for its length, scalar,
// since a vector would spend more on its sum across lanes than it saves. Longer rows: full vectors
// in two accumulators. x is gathered by one load a lane: several current CPUs take longer for a
// hardware gather. Values and columns are prefetched kAhead nonzeros before their use; the plain
// CSR loop waits for them.
//
// Deterministic: the order of every sum is fixed by the layout and the SIMD target.
#include <omp.h>

#include <algorithm>
#include <type_traits>

#include "kernels/albus/albus.hpp"

// Not worth their compile time: their users gain nothing over the next lower target.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/albus/albus_host.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trireme {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kUnrolled = 15;
constexpr std::int64_t kAhead = 512;  // nonzeros: one window
constexpr int kCacheLine = 64;

// Integers wrap: the sum is made of unsigned numbers.
template <class Value>
using Sum = typename std::conditional_t<std::is_integral_v<Value>, std::make_unsigned<Value>,
                                        std::type_identity<Value>>::type;

template <class Value>
HWY_INLINE Sum<Value> Product(Value a, Value b) {
  return static_cast<Sum<Value>>(a) * static_cast<Sum<Value>>(b);
}

template <class Value>
HWY_INLINE void Store(Value* y, Sum<Value> sum, bool add) {
  *y = static_cast<Value>(add ? static_cast<Sum<Value>>(*y) + sum : sum);
}

template <class T>
HWY_INLINE void PrefetchRange(const T* begin, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kCacheLine / static_cast<std::int64_t>(sizeof(T)))
    hwy::Prefetch(begin + i);
}

// x[columns[0 .. lanes)].
template <class D, class Value, class Index>
HWY_INLINE hn::Vec<D> Gather(D d, const Value* HWY_RESTRICT x, const Index* HWY_RESTRICT columns) {
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

template <class D, class V>
HWY_INLINE V MultiplyAdd(D, V a, V b, V sum) {
  if constexpr (std::is_integral_v<hn::TFromD<D>>)
    return hn::Add(hn::Mul(a, b), sum);
  else
    return hn::MulAdd(a, b, sum);
}

// sum of values[k] x[columns[k]] over k < count: a long row or a piece of one.
template <class Value, class Index>
HWY_INLINE Sum<Value> RowSum(std::int64_t count, const Value* HWY_RESTRICT values,
                             const Index* HWY_RESTRICT columns, const Value* HWY_RESTRICT x) {
  const hn::ScalableTag<Value> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::int64_t k = 0;
  for (; k + 2 * lanes <= count; k += 2 * lanes) {
    even = MultiplyAdd(d, hn::LoadU(d, values + k), Gather(d, x, columns + k), even);
    odd = MultiplyAdd(d, hn::LoadU(d, values + k + lanes), Gather(d, x, columns + k + lanes), odd);
  }
  if (k + lanes <= count) {
    even = MultiplyAdd(d, hn::LoadU(d, values + k), Gather(d, x, columns + k), even);
    k += lanes;
  }
  Sum<Value> rest{};
  for (; k < count; ++k) rest += Product(values[k], x[columns[k]]);
  return static_cast<Sum<Value>>(hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)))) + rest;
}

// Where the rows of a run lie, relative to its window.
struct Consecutive {
  std::int32_t length;
  HWY_INLINE std::int64_t offset(std::int32_t i) const { return std::int64_t{length} * i; }
  HWY_INLINE std::int64_t row(std::int32_t i) const { return i; }
};
struct Sorted {
  const AlbusSlot* slots;
  HWY_INLINE std::int64_t offset(std::int32_t i) const { return slots[i].offset; }
  HWY_INLINE std::int64_t row(std::int32_t i) const { return slots[i].row; }
};

// One run of `count` rows. `values` and `columns` are those that the places are relative to;
// `stream` is how far the run's first nonzero would lie from them in storage order.
template <int kLength, class Place, class Value, class Index>
HWY_INLINE void ShortRun(Place place, std::int32_t count, std::int64_t stream,
                         const Value* HWY_RESTRICT values, const Index* HWY_RESTRICT columns,
                         const Value* HWY_RESTRICT x, Value* HWY_RESTRICT y, bool add) {
  constexpr std::int32_t kRows = 8;  // between two prefetches: whole cache lines, none twice
  for (std::int32_t i = 0; i < count;) {
    const std::int32_t block_end = std::min(count, i + kRows);
    PrefetchRange(values + stream + kAhead, kRows * kLength);
    PrefetchRange(columns + stream + kAhead, kRows * kLength);
    stream += kRows * kLength;
    for (; i < block_end; ++i) {
      const Value* HWY_RESTRICT v = values + place.offset(i);
      const Index* HWY_RESTRICT c = columns + place.offset(i);
      Sum<Value> even{}, odd{};
      HWY_UNROLL(16)
      for (int k = 0; k + 1 < kLength; k += 2) {
        even += Product(v[k], x[c[k]]);
        odd += Product(v[k + 1], x[c[k + 1]]);
      }
      if constexpr (kLength % 2 != 0) even += Product(v[kLength - 1], x[c[kLength - 1]]);
      Store(y + place.row(i), even + odd, add);
    }
  }
}

template <class Place, class Value, class Index>
HWY_INLINE void Run(std::int32_t length, Place place, std::int32_t count, std::int64_t stream,
                    const Value* HWY_RESTRICT values, const Index* HWY_RESTRICT columns,
                    const Value* HWY_RESTRICT x, Value* HWY_RESTRICT y, bool add) {
  switch (length) {
#define TRIREME_SHORT_RUN(L) \
  case L:                    \
    return ShortRun<L>(place, count, stream, values, columns, x, y, add);
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
  }
  static_assert(kUnrolled == 15);
  for (std::int32_t i = 0; i < count; ++i)
    Store(y + place.row(i), RowSum(length, values + place.offset(i), columns + place.offset(i), x),
          add);
}

// The pointers are those of the window's first nonzero, its base column and its first row.
template <class Value, class Index>
void Window(const AlbusPart& part, const AlbusWindow& window, const Value* HWY_RESTRICT values,
            const Index* HWY_RESTRICT columns, const Value* HWY_RESTRICT x, Value* HWY_RESTRICT y,
            bool add) {
  const AlbusRun* run = part.runs.data() + window.first_run;
  const AlbusRun* const last = run + window.runs;
  if (window.sorted) {
    const AlbusSlot* slots = part.slots.data() + window.first_slot;
    std::int64_t stream = 0;
    for (; run != last; ++run) {
      Run(run->length, Sorted{slots}, run->count, stream, values, columns, x, y, add);
      slots += run->count;
      stream += std::int64_t{run->length} * run->count;
    }
  } else {
    for (; run != last; ++run) {
      Run(run->length, Consecutive{run->length}, run->count, 0, values, columns, x, y, add);
      values += std::int64_t{run->length} * run->count;
      columns += std::int64_t{run->length} * run->count;
      y += run->count;
    }
  }
}

// What the next windows say of themselves is small but read before anything else of them.
HWY_INLINE void PrefetchDescriptions(const AlbusPart& part, std::size_t window) {
  constexpr std::size_t kWindowsAhead = 2;
  if (window + 3 * kWindowsAhead < part.windows.size())
    hwy::Prefetch(&part.windows[window + 3 * kWindowsAhead]);
  if (window + kWindowsAhead >= part.windows.size()) return;
  const AlbusWindow& next = part.windows[window + kWindowsAhead];
  hwy::Prefetch(part.runs.data() + next.first_run);
  if (next.sorted) PrefetchRange(part.slots.data() + next.first_slot, next.rows);
}

// Writes the rows that the part owns and returns its head.
template <class Value>
HWY_INLINE Value Part(const AlbusLayout<Value>& layout, const AlbusPart& part, const Value* x,
                      Value* y, bool add) {
  const Value* values = layout.values.data();
  const std::int32_t* col_idx = layout.col_idx.data();
  const std::uint16_t* narrow = part.narrow_col_idx.data();
  const auto piece = [&](std::int32_t begin, std::int32_t end) {
    return RowSum(end - begin, values + begin, col_idx + begin, x);
  };
  Sum<Value> head{};
  if (part.has_head()) head = piece(part.start1, part.head_end);
  for (std::size_t i = 0; i < part.windows.size(); ++i) {
    const AlbusWindow& window = part.windows[i];
    const std::int32_t first = window.first_nonzero;
    PrefetchDescriptions(part, i);
    if (window.narrow)
      Window(part, window, values + first, narrow + (first - part.start1), x + window.base,
             y + window.first_row, add);
    else
      Window(part, window, values + first, col_idx + first, x, y + window.first_row, add);
  }
  if (part.has_tail()) Store(y + part.end - 1, piece(part.tail_begin, part.end1), add);
  return static_cast<Value>(head);
}

}  // namespace

// Highway's table of targets takes plain functions.
double PartDouble(const AlbusLayout<double>& layout, const AlbusPart& part, const double* x,
                  double* y, bool add) {
  return Part(layout, part, x, y, add);
}
float PartFloat(const AlbusLayout<float>& layout, const AlbusPart& part, const float* x, float* y,
                bool add) {
  return Part(layout, part, x, y, add);
}
std::int32_t PartInt(const AlbusLayout<std::int32_t>& layout, const AlbusPart& part,
                     const std::int32_t* x, std::int32_t* y, bool add) {
  return Part(layout, part, x, y, add);
}

std::int64_t SimdTarget() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace trireme
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme {
namespace {

HWY_EXPORT(PartDouble);
HWY_EXPORT(PartFloat);
HWY_EXPORT(PartInt);
HWY_EXPORT(SimdTarget);

double multiply_part(const AlbusLayout<double>& layout, const AlbusPart& part, const double* x,
                     double* y, bool add) {
  return HWY_DYNAMIC_DISPATCH(PartDouble)(layout, part, x, y, add);
}
float multiply_part(const AlbusLayout<float>& layout, const AlbusPart& part, const float* x,
                    float* y, bool add) {
  return HWY_DYNAMIC_DISPATCH(PartFloat)(layout, part, x, y, add);
}
std::int32_t multiply_part(const AlbusLayout<std::int32_t>& layout, const AlbusPart& part,
                           const std::int32_t* x, std::int32_t* y, bool add) {
  return HWY_DYNAMIC_DISPATCH(PartInt)(layout, part, x, y, add);
}

// Below this many nonzeros a part costs less than waking its thread.
constexpr std::int64_t kLeastNonzerosAPart = 2048;

template <class Value>
class AlbusHost final : public HostKernel<Value> {
 public:
  explicit AlbusHost(const CsrView<Value>& matrix) {
    const std::int64_t parts =
        std::clamp<std::int64_t>(matrix.nnz() / kLeastNonzerosAPart, 1, omp_get_max_threads());
    layout_ = build_albus_layout(matrix, parts, statistics_.steps);
    result_mid_.resize(parts);
    statistics_.stored_bytes = stored_bytes();
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    const auto parts = static_cast<std::int64_t>(layout_.parts.size());
#pragma omp parallel for schedule(static) if (parts > 1)
    for (std::int64_t t = 0; t < parts; ++t)
      result_mid_[t] = multiply_part(layout_, layout_.parts[t], x.data(), y.data(), add);
    for (std::int64_t t = 0; t < parts; ++t)
      if (layout_.parts[t].has_head()) add_to(y[layout_.parts[t].start - 1], result_mid_[t]);
  }

  void update_values(std::span<const Value> values) override { layout_.values = values; }

  KernelStatistics statistics() const override { return statistics_; }

 private:
  static void add_to(Value& y, Value head) {
    if constexpr (std::is_integral_v<Value>)
      y = static_cast<Value>(static_cast<std::uint32_t>(y) + static_cast<std::uint32_t>(head));
    else
      y += head;
  }

  std::int64_t stored_bytes() const {
    std::int64_t bytes = static_cast<std::int64_t>(layout_.values.size() * sizeof(Value));
    for (const AlbusPart& part : layout_.parts) {
      bytes += static_cast<std::int64_t>(part.windows.size() * sizeof(AlbusWindow) +
                                         part.runs.size() * sizeof(AlbusRun) +
                                         part.slots.size() * sizeof(AlbusSlot));
      std::int64_t narrow = 0;
      for (std::size_t i = 0; i < part.windows.size(); ++i) {
        const std::int32_t end =
            i + 1 < part.windows.size() ? part.windows[i + 1].first_nonzero : part.tail_begin;
        if (part.windows[i].narrow) narrow += end - part.windows[i].first_nonzero;
      }
      bytes += 2 * narrow + 4 * (part.end1 - part.start1 - narrow);
    }
    return bytes;
  }

  AlbusLayout<Value> layout_;
  std::vector<Value> result_mid_;  // by part: its head
  KernelStatistics statistics_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_host(const CsrView<Value>& matrix) {
  return std::make_unique<AlbusHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_albus_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_albus_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_albus_host(const CsrView<std::int32_t>&);

std::string_view albus_simd_target() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(SimdTarget)()); }

}  // namespace trireme
#endif  // HWY_ONCE
