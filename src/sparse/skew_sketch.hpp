// SPDX-License-Identifier: BSD-3-Clause
// How far a matrix is from symmetric, from one pass over its entries in any order and on any number
// of processes.
//
// With D = A - A^T and random vectors u and v, each row i adds u_i (D v)_i to one of 64 sums. The
// sum of their squares is that of all |d_ij|^2 in the mean, but for the squares of u and v, and
// strays from it by about a fifth (a count sketch: Charikar, Chen and Farach-Colton 2004). All sums
// are zero but for rounding where A is symmetric but for rounding.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Entry `row` of u (which = 1) or v (which = 2): of a random sign, and of a magnitude in
// [3/4, 5/4), so that no two terms cancel by chance.
constexpr double random_entry(std::int64_t row, std::uint64_t which) {
  const std::uint64_t bits = split_mix(static_cast<std::uint64_t>(row), which);
  const double magnitude = 0.75 + 0.5 * to_unit(bits);
  return bits % 2 == 0 ? magnitude : -magnitude;
}

// Both random entries of a row, and its sum.
struct RandomPair {
  double u = 0, v = 0;
  std::int32_t sum = 0;
  RandomPair() = default;
  constexpr explicit RandomPair(std::int64_t row);
};

struct SkewSketch {
  static constexpr std::int32_t kSums = 64;
  static constexpr double kRounding = 1e-10;  // of a sum of a symmetric matrix

  // Of each sum: itself, and the sum of the magnitudes of its terms.
  std::array<double, std::size_t{2} * kSums> sums{};
  double squares = 0;  // the sum of (a_ij / unit)^2

  constexpr void take(double value, const RandomPair& row, const RandomPair& column) {
    const double one = value * row.u * column.v, other = value * column.u * row.v;
    sums[row.sum] += one;
    sums[kSums + row.sum] += one < 0 ? -one : one;
    sums[column.sum] -= other;
    sums[kSums + column.sum] += other < 0 ? -other : other;
    squares += value * value;
  }
  SkewSketch& operator+=(const SkewSketch& other) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
    squares += other.squares;
    return *this;
  }
  bool is_rounding() const {
    for (std::int32_t i = 0; i < kSums; ++i)
      if (!(std::abs(sums[i]) <= kRounding * sums[kSums + i])) return false;
    return true;
  }
  // The Frobenius norm of (A - A^T) / 2 over that of A, at most 1.
  double skew() const;
};

constexpr RandomPair::RandomPair(std::int64_t row)
    : u(random_entry(row, 1)),
      v(random_entry(row, 2)),
      sum(static_cast<std::int32_t>(split_mix(static_cast<std::uint64_t>(row), 5) %
                                    SkewSketch::kSums)) {}

// The random entries of the `count` rows from number `first` on.
Array<RandomPair> random_pairs(std::int64_t first, std::int64_t count);

// Of `csr`, whose first row has the number first_row in the whole matrix, with all values divided
// by `unit`, a power of two. columns[j] is of column j, by its number in the whole matrix. All
// threads take part.
SkewSketch skew_sketch(const CsrView<double>& csr, std::int64_t first_row,
                       std::span<const RandomPair> columns, double unit);

}  // namespace trireme
