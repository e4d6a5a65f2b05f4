// SPDX-License-Identifier: BSD-3-Clause
// New values of a matrix, brought to its scaled copy with the scaling of older ones.
//
//   values of A        [ local block | ghost block ]
//                          |  sources: which entry of A each entry of D_r A D_c P is
//   values of the copy [ local block | ghost block ]
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/scaling/system_scaling.hpp"

namespace trireme {

class ScaledValues {
 public:
  // Both must outlive this, and the pattern of the matrix must not change. Collective, as is
  // take().
  ScaledValues(const DistributedMatrix& matrix, const SystemScaling& scaling);

  // Brings the present values to `scaled`, which is scaled_matrix() of both, in one pass and with
  // its halo. The first call is for the values by which the scaling was found, and returns true.
  // Later ones return whether that scaling still serves, the same on every rank:
  // - The largest magnitudes of any two rows have changed by factors within 2^3 of each other,
  //   and no row has become empty or was so.
  // - In no row has the diagonal entry fallen by more than 2^3 behind the largest one.
  // - The largest magnitude of all rows is within 2^-200 and 2^200.
  bool take(DistributedMatrix& scaled);

 private:
  // log2 of magnitudes of each local row.
  struct Sizes {
    Array<float> largest, diagonal;
  };
  void fill(CsrMatrix<double>& block, std::int64_t first_source,
            std::span<const std::int64_t> sources, std::span<double> largest) const;
  bool still_serves(const Sizes& now) const;

  const DistributedMatrix& matrix_;
  const SystemScaling& scaling_;
  Array<double> ghost_columns_;  // exponents
  // Empty: every entry keeps its place.
  Array<std::int64_t> local_sources_, ghost_sources_;
  std::optional<Sizes> found_;  // of the first call
};

}  // namespace trireme
