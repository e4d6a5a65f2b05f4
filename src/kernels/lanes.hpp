// SPDX-License-Identifier: BSD-3-Clause
// A few vectors side by side as one vector of small arrays, so that one text of a host executor
// multiplies one vector or several: where it says sum += value * x[column], x[column] is a number
// or a Lanes, in the type of sums, and so is the value.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/host_sum.hpp"
#include "kernels/kernel.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme {

// N numbers of the type Sum.
template <class Sum, int N>
struct Lanes {
  Sum lane[N] = {};

  Lanes& operator+=(const Lanes& other) {
    for (int j = 0; j < N; ++j) lane[j] += other.lane[j];
    return *this;
  }
  friend Lanes operator*(Sum factor, Lanes lanes) {
    for (int j = 0; j < N; ++j) lanes.lane[j] *= factor;
    return lanes;
  }
};

// One vector: element i is a number.
template <class Value>
struct NumbersOfX {
  std::span<const Value> x;
  HostSumOf<Value> operator[](std::int64_t i) const { return static_cast<HostSumOf<Value>>(x[i]); }
};

// Stores or adds the sum of a row.
template <class Value>
struct NumbersOfY {
  std::span<Value> y;
  bool add;
  void operator()(std::int64_t row, HostSumOf<Value> sum) const { store_or_add(y[row], sum, add); }
};

// N vectors of X: element i is a Lanes.
template <class Value, int N>
struct LanesOfX {
  MultiVector<const Value> x;
  Lanes<HostSumOf<Value>, N> operator[](std::int64_t i) const {
    Lanes<HostSumOf<Value>, N> lanes;
    for (int j = 0; j < N; ++j) lanes.lane[j] = static_cast<HostSumOf<Value>>(x.row(i)[j]);
    return lanes;
  }
};

// Stores or adds the sums of a row in N vectors of Y.
template <class Value, int N>
struct LanesOfY {
  MultiVector<Value> y;
  bool add;
  void operator()(std::int64_t row, const Lanes<HostSumOf<Value>, N>& sums) const {
    for (int j = 0; j < N; ++j) store_or_add(y.row(row)[j], sums.lane[j], add);
  }
};

// Calls product(LanesOfX, LanesOfY) for 8 vectors at a time, and for the rest in powers of two.
template <class Value, class Product>
void in_lanes(MultiVector<const Value> x, MultiVector<Value> y, Accumulate accumulate,
              const Product& product) {
  std::int64_t first = 0;
  const auto all_of = [&]<int N>() {
    for (; first + N <= x.width; first += N)
      product(LanesOfX<Value, N>{x.vectors(first, N)},
              LanesOfY<Value, N>{y.vectors(first, N), accumulate == Accumulate::yes});
  };
  all_of.template operator()<8>();
  all_of.template operator()<4>();
  all_of.template operator()<2>();
  all_of.template operator()<1>();
}

}  // namespace trireme
