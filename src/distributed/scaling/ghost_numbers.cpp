// SPDX-License-Identifier: BSD-3-Clause
// Over the halo of the matrix, in both directions.
#include "distributed/scaling/ghost_numbers.hpp"

#include <algorithm>

namespace trireme {

GhostNumbers::GhostNumbers(const DistributedMatrix& matrix)
    : matrix_(matrix),
      packed_(matrix.halo.send_rows.size()),
      ghosts_(matrix.halo.ghosts),
      exchange_(matrix.comm, matrix.halo, packed_, ghosts_) {}

std::span<const double> GhostNumbers::of_owners(std::span<const double> own) {
  const Array<std::int32_t>& rows = matrix_.halo.send_rows;
  for (std::size_t k = 0; k < rows.size(); ++k) packed_[k] = own[rows[k]];
  exchange_.begin();
  exchange_.end();
  return ghosts_;
}

void GhostNumbers::take_largest(std::span<const double> of_ghosts, std::span<double> own) {
  std::ranges::copy(of_ghosts, ghosts_.begin());
  exchange_.begin_reverse();
  exchange_.end_reverse();
  const Array<std::int32_t>& rows = matrix_.halo.send_rows;
  for (std::size_t k = 0; k < rows.size(); ++k) own[rows[k]] = std::max(own[rows[k]], packed_[k]);
}

}  // namespace trireme
