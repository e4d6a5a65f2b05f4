// SPDX-License-Identifier: BSD-3-Clause
// A linear system with scaled rows and columns, and with columns in other places:
//
//   (D_r A D_c P) y = D_r b,   x = D_c P y
//
// D_r and D_c hold powers of two, so that scaling changes no digit. P moves columns, on several
// ranks from one to another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/array.hpp"
#include "base/choices.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/redistribution.hpp"
#include "distributed/scaling/rank_matching.hpp"

namespace trireme {

struct SystemScaling {
  bool symmetric = false;       // D_r = D_c and P = I
  Array<std::int32_t> rows;     // exponents of two of this rank's rows
  Array<std::int32_t> columns;  // and of its columns, in the order of A
  // P is the identity where both of these are empty.
  Array<std::int32_t> places;  // of y, from this rank's first one: where each of its columns goes
  std::shared_ptr<const Redistribution> moved;  // of columns between ranks, in place of `places`
  // Of a matching: what was matched, where it comes from if another run has found it, how many rows
  // of all ranks have no column, and the first one, by the number that messages name.
  Matched matched = Matched::whole;
  std::string origin;
  std::int64_t unmatched_rows = 0;
  std::int64_t first_unmatched = -1;

  // D_r b 2^exponent, in one step, so that no number in between leaves the range of double.
  Array<double> to_rows(std::span<const double> b, int exponent = 0) const;
  // y 2^exponent of an x, for `width` vectors side by side. Collective, as is from_columns().
  Array<double> to_columns(std::span<const double> x, int exponent = 0,
                           std::int64_t width = 1) const;
  // x 2^exponent of a y.
  Array<double> from_columns(std::span<const double> y, int exponent = 0) const;
};

// By the values of this moment, which are finite. A matrix that looks symmetric, in its small
// entries too, gets a symmetric scaling: with matching, the square root of the product of both
// scales (Duff and Pralet, SIAM J. Matrix Anal. Appl. 27, 2005). Where each rank has matched its
// diagonal block by itself, the sweeps of `ruiz` bring the other entries down to it. Throws what
// match() throws. Collective.
SystemScaling find_scaling(Scaling kind, const DistributedMatrix& matrix,
                           const MatchingRules& rules = {});

// D_r A D_c P. Entries that fall below the smallest double become 0. Throws Error{input} on every
// rank where one exceeds the largest double. Collective.
std::shared_ptr<DistributedMatrix> scaled_matrix(const DistributedMatrix& matrix,
                                                 const SystemScaling& scaling);

}  // namespace trireme
