// SPDX-License-Identifier: BSD-3-Clause
// The HYB layout (ELL + COO): the first entries of all rows are padded to one width, and the
// entries beyond the width are stored with their coordinates.
//
// N. Bell and M. Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented
// processors", SC 2009, section 4.5.
//
//   | 1 7 . . |     width 2       ell  cols  0 1 0 1   1 2 2 3     coo  rows  2
//   | . 2 8 . |                        vals  1 2 5 6   7 8 3 4          cols  3
//   | 5 . 3 9 |                                                         vals  9
//   | . 6 . 4 |
//
// The width is the largest number of entries that at least a third of the rows have, and at least
// kMinRows rows. A column of padded entries then pays, because a padded entry is multiplied about
// three times as fast as one with coordinates, and because fewer rows do not fill a GPU. The padded
// rows store fewer than 3 times the nonzeros, so that HYB never needs 10 times the memory of CSR.
//
// Bytes moved: those of kernels/peers/padded_rows.hpp and kernels/peers/coordinates.hpp. Both parts
// are deterministic.
#pragma once

#include <cstdint>

#include "kernels/peers/coordinates.hpp"
#include "kernels/peers/padded_rows.hpp"

namespace trireme::hyb {

inline constexpr std::int64_t kMinRows = 4096;

// The layout in host memory. Value: double, float.
template <class Value>
struct Layout {
  PaddedRows<Value> ell;
  Coordinates<Value> coo;
};

}  // namespace trireme::hyb
