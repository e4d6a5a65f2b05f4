// SPDX-License-Identifier: BSD-3-Clause
// How host executors sum each value type. Numbers of FP32 are widened, multiplied and summed in
// FP64, and the sum of a row is rounded once, as on GPUs (numeric.cuh). Where a row is cut between
// threads or segments, what the owner of the row stores is rounded, and the rest is added to it
// with one more rounding.
#pragma once

#include <cstdint>
#include <type_traits>

namespace trireme {

// The type in which products of values are summed. Integer sums wrap around, which C++ defines for
// unsigned numbers only.
template <class Value>
struct HostSum {
  using type = Value;
};
template <>
struct HostSum<float> {
  using type = double;
};
template <>
struct HostSum<std::int32_t> {
  using type = std::uint32_t;
};
template <class Value>
using HostSumOf = typename HostSum<Value>::type;

// The same for the lanes of SIMD vectors, which wrap around in signed integers, too.
template <class Value>
using HostLaneOf = std::conditional_t<std::is_integral_v<Value>, Value, HostSumOf<Value>>;

// The product of a stored value and an entry of x. Stored is Value or a narrower type.
template <class Stored, class Value>
inline HostSumOf<Value> term_of_sum(Stored value, Value x) {
  return static_cast<HostSumOf<Value>>(value) * static_cast<HostSumOf<Value>>(x);
}

// Stores the sum of a row in y, or adds it to y.
template <class Value>
inline void store_or_add(Value& y, HostSumOf<Value> sum, bool add) {
  y = static_cast<Value>(add ? static_cast<HostSumOf<Value>>(y) + sum : sum);
}

// Adds shares of cut rows to y. The shares of a row follow each other, so that y is rounded once
// for all of them. The last row is written when the object ends.
template <class Value>
class AddShares {
 public:
  AddShares() = default;
  ~AddShares() { finish(); }
  AddShares(const AddShares&) = delete;
  AddShares& operator=(const AddShares&) = delete;

  void add(Value& y, HostSumOf<Value> share) {
    if (&y != y_) {
      finish();
      y_ = &y;
      sum_ = static_cast<HostSumOf<Value>>(y);
    }
    sum_ += share;
  }

 private:
  void finish() {
    if (y_) *y_ = static_cast<Value>(sum_);
  }

  Value* y_ = nullptr;  // of the row whose shares come
  HostSumOf<Value> sum_{};
};

}  // namespace trireme
