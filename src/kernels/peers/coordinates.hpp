// SPDX-License-Identifier: BSD-3-Clause
// Matrix entries with their coordinates, sorted by row: the COO format, and its product on the
// host. The kernels coo and hyb store their entries in this format.
//
// N. Bell and M. Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented
// processors", SC 2009: the format and the segmented reduction by rows. The arrays have the names
// of the document on COO, CSR, ELL and JDS.
//
//   | 1 7 . . |     rows  0 0 1 1 2 2 2 3 3
//   | . 2 8 . |     cols  0 1 1 2 0 2 3 1 3
//   | 5 . 3 9 |     vals  1 7 2 8 5 3 9 6 4
//   | . 6 . 4 |
//
// The product cuts the entries into segments of equal size. A row may be cut:
//
//   rows      0 0 1 | 1 2 2 | 2 3 3      three segments, drawn with 3 entries each
//                     ^       ^          carries of segments 1 and 2
//
// A segment adds the sums of the rows that begin in it to y. Its share of a row that began earlier
// is its carry. When all segments are done, the carries are added to y in the order of the
// segments.
//
// Bytes moved per nonzero: 16 (double) or 12 (float), beside x and y. The result is deterministic
// for any number of threads: the size of a segment is fixed, and no two segments write to the same
// row.
#pragma once

#include <cstdint>
#include <span>

#include "base/array.hpp"
#include "kernels/host_sum.hpp"
#include "sparse/csr.hpp"

namespace trireme {

template <class Value>
struct Coordinates {
  static constexpr std::int64_t kSegment = 2048;  // entries

  Array<std::int32_t> rows;  // ascending
  Array<std::int32_t> cols;
  Array<Value> vals;

  std::int64_t entries() const { return static_cast<std::int64_t>(vals.size()); }
  std::int64_t segments() const { return (entries() + kSegment - 1) / kSegment; }
  std::int64_t bytes() const {
    return entries() * static_cast<std::int64_t>(sizeof(Value) + 2 * sizeof(std::int32_t));
  }
};

// Takes the entries of each row that follow its first `skipped` entries, in their order. Value:
// double, float.
template <class Value>
Coordinates<Value> entries_after(const CsrView<Value>& a, std::int64_t skipped);

// Stores the values of `a`, which has the pattern that `entries` was made from, with the same
// `skipped`.
template <class Value>
void fill_values(const CsrView<Value>& a, std::int64_t skipped, Coordinates<Value>& entries);

// y += A x. `carries` has entries.segments() elements, which the function overwrites.
template <class Value>
void add_product(const Coordinates<Value>& entries, std::span<const Value> x, std::span<Value> y,
                 std::span<HostSumOf<Value>> carries);

}  // namespace trireme
