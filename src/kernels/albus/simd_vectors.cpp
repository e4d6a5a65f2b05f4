// SPDX-License-Identifier: BSD-3-Clause
// Multiplies one part of the ALBUS layout by several vectors. The code between HWY_BEFORE_NAMESPACE
// and HWY_AFTER_NAMESPACE is compiled once per SIMD target, as in simd.cpp.
//
// The lanes of a SIMD vector are vectors of X, which lie side by side: one value of the matrix is
// multiplied by a whole row of X. Up to four SIMD vectors are summed in one walk through the part,
// in even and odd nonzeros apart, so that the sum of one vector of X has the same bits at any
// width. Columns come from the CSR: the windows of the layout save nothing beside the rows of X.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/albus/multiply_part.hpp"
#include "kernels/albus/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/albus/simd_vectors.cpp"
#include "hwy/foreach_target.h"

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/albus/row_sum-inl.hpp"
#include "kernels/albus/row_values.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kMaxSimd = 4;           // SIMD vectors per walk
constexpr std::int64_t kAhead = 512;  // nonzeros between the prefetch of an entry and its use
constexpr std::int64_t kRowsOfXAhead = 16;

// The vectors of X that one walk multiplies: kSimd SIMD vectors, of which the last one has `last`
// lanes in use, or all of them where kWhole.
template <int kSimd, bool kWhole, class Stored, class Value>
class Walk {
  using Lane = HostLaneOf<Value>;

 public:
  Walk(const Layout<Stored>& a, MultiVector<const Value> x, MultiVector<Value> y, bool add,
       Value* dots)
      : a_(a),
        x_(x),
        y_(y),
        add_(add),
        dots_(dots),
        last_(static_cast<std::size_t>(x.width) - (kSimd - 1) * hn::Lanes(D())) {}

  // The rows that the part owns go to y, and the head goes to `head`.
  HWY_INLINE void multiply(const Part& part, Lane* head) const {
    if (part.has_head())
      sum({a_.values.data() + part.start1}, part.start1, part.head_end, head, false);
    RowValuesFinder<Stored> values(a_, part.start);
    for (std::int32_t row = part.start; row < part.end; ++row) {
      const std::int32_t begin = a_.row_ptr[row];
      sum(values.of(row, begin), begin, std::min(a_.row_ptr[row + 1], part.end1), y_.row(row),
          add_);
      if (!dots_) continue;
      dot<0>(row);
      if constexpr (kSimd > 1) dot<1>(row);
      if constexpr (kSimd > 2) dot<2>(row);
      if constexpr (kSimd > 3) dot<3>(row);
    }
  }

 private:
  using D = hn::ScalableTag<Lane>;
  using V = hn::Vec<D>;

  // Numbers are of the type Value, or Lane in a head.
  template <int kAt, class Number>
  HWY_INLINE V load(const Number* from) const {
    const D d;
    from += kAt * hn::Lanes(d);
    if constexpr (kWhole || kAt + 1 < kSimd)
      return Widened(d, from);
    else
      return WidenedFirst(d, last_, from);
  }

  template <int kAt, class Number>
  HWY_INLINE void store(V sum, Number* to, bool add) const {
    const D d;
    if (add) sum = hn::Add(load<kAt>(to), sum);
    to += kAt * hn::Lanes(d);
    if constexpr (kWhole || kAt + 1 < kSimd)
      StoreRounded(sum, d, to);
    else if constexpr (std::is_same_v<Number, Lane>)
      hn::BlendedStore(sum, hn::FirstN(d, last_), d, to);
    else
      StoreFirstRounded(sum, d, last_, to);
  }

  template <int kAt>
  HWY_INLINE void accumulate(V value, const Value* row_of_x, V& sum) const {
    if constexpr (kAt < kSimd) sum = MultiplyAdd(D(), value, load<kAt>(row_of_x), sum);
  }

  template <int kAt>
  HWY_INLINE void dot(std::int32_t row) const {
    store<kAt>(hn::Mul(load<kAt>(x_.row(row)), load<kAt>(y_.row(row))), dots_, true);
  }

  HWY_INLINE const Value* row_of_x(std::int32_t k) const { return x_.row(a_.col_idx[k]); }

  // Named sums, because vectors of scalable targets cannot be elements of an array.
  template <class Number>
  HWY_INLINE void sum(RowValues<Stored> values, std::int32_t begin, std::int32_t end, Number* to,
                      bool add) const {
    const D d;
    const auto value = [&](std::int32_t k) {
      return hn::Set(d, static_cast<Lane>(values.first[(k - begin) * values.stride]));
    };
    V even0 = hn::Zero(d), even1 = even0, even2 = even0, even3 = even0;
    V odd0 = even0, odd1 = even0, odd2 = even0, odd3 = even0;
    if (a_.beyond_core_cache) prefetch(values.stream, begin, end);
    std::int32_t k = begin;
    for (; k + 1 < end; k += 2) {
      const V v = value(k), w = value(k + 1);
      const Value* const p = row_of_x(k);
      const Value* const q = row_of_x(k + 1);
      accumulate<0>(v, p, even0);
      accumulate<0>(w, q, odd0);
      accumulate<1>(v, p, even1);
      accumulate<1>(w, q, odd1);
      accumulate<2>(v, p, even2);
      accumulate<2>(w, q, odd2);
      accumulate<3>(v, p, even3);
      accumulate<3>(w, q, odd3);
    }
    if (k < end) {
      const V v = value(k);
      const Value* const p = row_of_x(k);
      accumulate<0>(v, p, even0);
      accumulate<1>(v, p, even1);
      accumulate<2>(v, p, even2);
      accumulate<3>(v, p, even3);
    }
    store<0>(hn::Add(even0, odd0), to, add);
    if constexpr (kSimd > 1) store<1>(hn::Add(even1, odd1), to, add);
    if constexpr (kSimd > 2) store<2>(hn::Add(even2, odd2), to, add);
    if constexpr (kSimd > 3) store<3>(hn::Add(even3, odd3), to, add);
  }

  // Entries and rows of X that soon follow. A prefetch beyond the end of an array does no harm, but
  // the columns there must not be read.
  HWY_INLINE void prefetch(const Stored* stream, std::int32_t begin, std::int32_t end) const {
    PrefetchRange(stream + kAhead, end - begin);
    PrefetchRange(a_.col_idx.data() + begin + kAhead, end - begin);
    const auto nnz = static_cast<std::int64_t>(a_.col_idx.size());
    const std::int64_t until = std::min(end + kRowsOfXAhead, nnz);
    for (std::int64_t k = begin + kRowsOfXAhead; k < until; ++k)
      hwy::Prefetch(x_.row(a_.col_idx[k]));
  }

  const Layout<Stored>& a_;
  MultiVector<const Value> x_;
  MultiVector<Value> y_;
  bool add_;
  Value* dots_;
  std::size_t last_;
};

template <class Stored, class Value>
HWY_INLINE void MultiplyPart(const Layout<Stored>& a, const Part& part, MultiVector<const Value> x,
                             MultiVector<Value> y, bool add, HostLaneOf<Value>* head, Value* dots) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<HostLaneOf<Value>>()));
  for (std::int64_t first = 0; first < x.width; first += kMaxSimd * lanes) {
    const std::int64_t width = std::min(kMaxSimd * lanes, x.width - first);
    const auto xs = x.vectors(first, width);
    const auto ys = y.vectors(first, width);
    Value* const own_dots = dots ? dots + first : nullptr;
    const auto walk = [&]<int kSimd>() {
      if (width % lanes == 0)
        Walk<kSimd, true, Stored, Value>(a, xs, ys, add, own_dots).multiply(part, head + first);
      else
        Walk<kSimd, false, Stored, Value>(a, xs, ys, add, own_dots).multiply(part, head + first);
    };
    switch ((width + lanes - 1) / lanes) {
      case 1:
        walk.template operator()<1>();
        break;
      case 2:
        walk.template operator()<2>();
        break;
      case 3:
        walk.template operator()<3>();
        break;
      default:
        walk.template operator()<4>();
    }
  }
}

}  // namespace

void MultiplyVectorsDouble(const Layout<double>& a, const Part& part, MultiVector<const double> x,
                           MultiVector<double> y, bool add, double* head, double* dots) {
  MultiplyPart(a, part, x, y, add, head, dots);
}
void MultiplyVectorsFloat(const Layout<float>& a, const Part& part, MultiVector<const float> x,
                          MultiVector<float> y, bool add, double* head, float* dots) {
  MultiplyPart(a, part, x, y, add, head, dots);
}
void MultiplyVectorsInt(const Layout<std::int32_t>& a, const Part& part,
                        MultiVector<const std::int32_t> x, MultiVector<std::int32_t> y, bool add,
                        std::int32_t* head, std::int32_t* dots) {
  MultiplyPart(a, part, x, y, add, head, dots);
}
void MultiplyVectorsMixed(const Layout<float>& a, const Part& part, MultiVector<const double> x,
                          MultiVector<double> y, bool add, double* head, double* dots) {
  MultiplyPart(a, part, x, y, add, head, dots);
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme::albus {
namespace {

HWY_EXPORT(MultiplyVectorsDouble);
HWY_EXPORT(MultiplyVectorsFloat);
HWY_EXPORT(MultiplyVectorsInt);
HWY_EXPORT(MultiplyVectorsMixed);

}  // namespace

void multiply_part(const Layout<double>& layout, const Part& part, MultiVector<const double> x,
                   MultiVector<double> y, bool add, double* head, double* dots) {
  HWY_DYNAMIC_DISPATCH(MultiplyVectorsDouble)(layout, part, x, y, add, head, dots);
}
void multiply_part(const Layout<float>& layout, const Part& part, MultiVector<const float> x,
                   MultiVector<float> y, bool add, double* head, float* dots) {
  HWY_DYNAMIC_DISPATCH(MultiplyVectorsFloat)(layout, part, x, y, add, head, dots);
}
void multiply_part(const Layout<std::int32_t>& layout, const Part& part,
                   MultiVector<const std::int32_t> x, MultiVector<std::int32_t> y, bool add,
                   std::int32_t* head, std::int32_t* dots) {
  HWY_DYNAMIC_DISPATCH(MultiplyVectorsInt)(layout, part, x, y, add, head, dots);
}
void multiply_part(const Layout<float>& layout, const Part& part, MultiVector<const double> x,
                   MultiVector<double> y, bool add, double* head, double* dots) {
  HWY_DYNAMIC_DISPATCH(MultiplyVectorsMixed)(layout, part, x, y, add, head, dots);
}

}  // namespace trireme::albus
#endif  // HWY_ONCE
