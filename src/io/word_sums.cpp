// SPDX-License-Identifier: BSD-3-Clause
// Products of 32-bit words with 64-bit results, which every SIMD unit multiplies in one
// instruction. The code between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE is compiled once per
// SIMD target that Highway knows on this platform. The best target is selected at run time.
#include "io/word_sums.hpp"

#include <cstddef>
#include <cstring>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/word_sums.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trireme {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The sums of the words of whole vectors, of which there are `done`.
#if HWY_TARGET == HWY_SCALAR
WordSums SumsOfVectors(const std::uint32_t* /*words*/, const WordWeights& /*weights*/,
                       std::int64_t /*first*/, std::int64_t /*count*/, std::int64_t& /*done*/) {
  return {};
}
#else
// hn::SumOfLanes() would add signed numbers for AVX-512, where sums beyond 2^63 are not defined.
template <class D, class V>
std::uint64_t WrappedSum(D d, V v) {
  HWY_ALIGN std::uint64_t lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) sum += lanes[k];
  return sum;
}

WordSums SumsOfVectors(const std::uint32_t* words, const WordWeights& weights, std::int64_t first,
                       std::int64_t count, std::int64_t& done) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto even_a = hn::Zero(wide), odd_a = even_a, even_b = even_a, odd_b = even_a;
  for (; done + lanes <= count; done += lanes) {
    const std::int64_t at = first + done;
    const auto word = hn::LoadU(d, words + done);
    const auto next = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, word)));
    even_a = hn::Add(even_a, hn::MulEven(word, hn::LoadU(d, &weights.a[at])));
    odd_a = hn::Add(odd_a, hn::MulEven(next, hn::LoadU(d, &weights.next_a[at])));
    even_b = hn::Add(even_b, hn::MulEven(word, hn::LoadU(d, &weights.b[at])));
    odd_b = hn::Add(odd_b, hn::MulEven(next, hn::LoadU(d, &weights.next_b[at])));
  }
  return {WrappedSum(wide, hn::Add(even_a, odd_a)), WrappedSum(wide, hn::Add(even_b, odd_b))};
}
#endif

WordSums Sums(const void* words, const WordWeights& weights, std::int64_t first,
              std::int64_t count) {
  std::int64_t k = 0;
  WordSums sums = SumsOfVectors(static_cast<const std::uint32_t*>(words), weights, first, count, k);
  for (; k < count; ++k) {
    std::uint32_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(words) + 4 * k, sizeof word);
    sums.a += std::uint64_t{word} * weights.a[first + k];
    sums.b += std::uint64_t{word} * weights.b[first + k];
  }
  return sums;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trireme
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme {
namespace {
HWY_EXPORT(Sums);
}  // namespace

WordSums word_sums(const void* words, const WordWeights& weights, std::int64_t first,
                   std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(Sums)(words, weights, first, count);
}
}  // namespace trireme
#endif  // HWY_ONCE
