// SPDX-License-Identifier: BSD-3-Clause
// Whether a matrix looks symmetric, from one pass over its entries in any order and on any number
// of processes: for random u and v, u.(A v) - v.(A u) is the sum of a_ij (u_i v_j - v_i u_j), which
// is zero up to rounding for a symmetric A. u and v are hashes of the row number.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct SkewSums {
  double difference = 0;  // the sum of a_ij (u_i v_j - v_i u_j)
  double magnitude = 0;   // the sum of |a_ij| (|u_i v_j| + |v_i u_j|)

  constexpr SkewSums& operator+=(const SkewSums& other) {
    difference += other.difference;
    magnitude += other.magnitude;
    return *this;
  }
  bool of_a_symmetric_matrix() const { return std::abs(difference) <= 1e-10 * magnitude; }
};

// Entry `row` of u (which = 1) or v (which = 2): a number in (-1, 1).
constexpr double random_entry(std::int64_t row, std::uint64_t which) {
  return 2 * to_unit(split_mix(static_cast<std::uint64_t>(row), which)) - 1;
}

// Both random entries of a row.
struct RandomPair {
  double u = 0, v = 0;
  RandomPair() = default;
  constexpr explicit RandomPair(std::int64_t row)
      : u(random_entry(row, 1)), v(random_entry(row, 2)) {}
};

// The random entries of the `count` rows from number `first` on.
Array<RandomPair> random_pairs(std::int64_t first, std::int64_t count);

constexpr SkewSums skew_of(double value, const RandomPair& row, const RandomPair& column) {
  const double one = value * row.u * column.v, other = value * row.v * column.u;
  return {one - other, (one < 0 ? -one : one) + (other < 0 ? -other : other)};
}

// The sums over `csr`, whose first row has the number first_row in the whole matrix. columns[j] has
// the random entries of column j, by its number in the whole matrix.
SkewSums skew_sums(const CsrView<double>& csr, std::int64_t first_row,
                   std::span<const RandomPair> columns);

}  // namespace trireme
