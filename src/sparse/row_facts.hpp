// SPDX-License-Identifier: BSD-3-Clause
// Facts about the rows of a matrix from one pass over its entries, in any order and on any number
// of processes: signs of the diagonal, sizes and sums of rows, and whether A is exactly A^T. Facts
// of parts of the rows add up to those of the matrix, with the same bits for any division.
//
// With random integers u and v modulo 2^64, and with m(a) a hash of the bits of a value, for which
// m(0) = 0, the sum of m(a_ij) (u_i v_j - v_i u_j) is zero for a symmetric A. For any other A it is
// zero with a probability of about 2^-60. Ones in place of m(a_ij) say the same of the pattern.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "base/array.hpp"
#include "base/split_mix.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// The random integers of a row and of the column of the same number.
struct RowKey {
  std::uint64_t u = 0, v = 0;
  RowKey() = default;
  constexpr explicit RowKey(std::int64_t row)
      : u(split_mix(static_cast<std::uint64_t>(row), 3)),
        v(split_mix(static_cast<std::uint64_t>(row), 4)) {}
};
// Those of the `count` rows from number `first` on, and those of the named rows.
Array<RowKey> row_keys(std::int64_t first, std::int64_t count);
Array<RowKey> row_keys(std::span<const std::int64_t> rows);

constexpr std::uint64_t hash_of_value(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0.0 becomes 0.0
  const std::uint64_t mixed = (bits ^ (bits >> 32)) * kSplitMixStep;
  return mixed ^ (mixed >> 32);
}

// What the entries of one row add up to.
struct RowSums {
  double diagonal = 0, sum = 0;
  double magnitude = 0;  // the sum of all |a_ij|
  double size = 0;       // the largest |a_ij|

  constexpr void take(double value, bool on_diagonal) {
    const double absolute = value < 0 ? -value : value;
    diagonal += on_diagonal ? value : 0;
    sum += value;
    magnitude += absolute;
    size = absolute > size ? absolute : size;
  }
};

// The sums of u_j and v_j over the entries of a row, and of m(a_ij) u_j and m(a_ij) v_j.
struct RowHash {
  RowKey pattern, values;

  constexpr void take(double value, const RowKey& column) {
    pattern.u += column.u;
    pattern.v += column.v;
    const std::uint64_t hash = hash_of_value(value);
    values.u += hash * column.u;
    values.v += hash * column.v;
  }
};

struct RowFacts {
  static constexpr double kRounding = 1e-12;  // of a sum, relative to that of the magnitudes

  std::int64_t positive = 0, negative = 0, zero = 0;  // diagonal entries; zero: or missing
  std::int64_t empty = 0;                             // rows without a nonzero
  std::int64_t dominant = 0;  // |a_ii| >= the sum of the other magnitudes, but for rounding
  std::int64_t with_sum = 0;  // rows that do not add up to zero, but for rounding
  std::uint64_t pattern = 0, values = 0;  // zero where they are symmetric
  // Sizes of rows: of the largest magnitudes of the rows that are not empty. A NaN does not count.
  double least = std::numeric_limits<double>::max(), greatest = 0;

  constexpr void take(const RowSums& row) {
    const double d = row.diagonal < 0 ? -row.diagonal : row.diagonal;
    const double sum = row.sum < 0 ? -row.sum : row.sum;
    positive += row.diagonal > 0 ? 1 : 0;
    negative += row.diagonal < 0 ? 1 : 0;
    zero += d == 0 ? 1 : 0;
    empty += row.size > 0 ? 0 : 1;
    dominant += 2 * d >= (1 - kRounding) * row.magnitude ? 1 : 0;
    with_sum += sum <= kRounding * row.magnitude ? 0 : 1;
    if (!(row.size > 0)) return;
    least = row.size < least ? row.size : least;
    greatest = row.size > greatest ? row.size : greatest;
  }
  // Of a row, or of some of its entries.
  constexpr void take(const RowHash& row, const RowKey& key) {
    pattern += key.u * row.pattern.v - key.v * row.pattern.u;
    values += key.u * row.values.v - key.v * row.values.u;
  }
  constexpr RowFacts& operator+=(const RowFacts& other) {
    positive += other.positive;
    negative += other.negative;
    zero += other.zero;
    empty += other.empty;
    dominant += other.dominant;
    with_sum += other.with_sum;
    pattern += other.pattern;
    values += other.values;
    least = other.least < least ? other.least : least;
    greatest = other.greatest > greatest ? other.greatest : greatest;
    return *this;
  }
};

// The rows of both blocks of a rank, or the rows of a matrix, for which `ghost` has no entries.
// Row 0 has the key keys[first_row], and its diagonal entry the column first_row of `local`;
// keys[j] is that of column j of `local`, and ghost_keys[j] that of column j of `ghost`.
struct KeyedRows {
  const CsrView<double>& local;
  const CsrView<double>& ghost;
  std::int64_t first_row;
  std::span<const RowKey> keys, ghost_keys;
};
RowHash row_hash(const KeyedRows& rows, std::int64_t row);
// Of the rows that are named, or of all. All threads take part.
RowFacts row_facts(const KeyedRows& rows);
RowFacts row_facts(const KeyedRows& rows, std::span<const std::int32_t> named);
// Of a whole matrix, which need not be square.
RowFacts row_facts(const CsrMatrix<double>& matrix);

}  // namespace trireme
