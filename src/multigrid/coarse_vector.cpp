// SPDX-License-Identifier: BSD-3-Clause
// Exchanges the ghosts of a coarse vector in both directions.
#include "multigrid/coarse_vector.hpp"

#include <algorithm>

namespace trireme::multigrid {

CoarseVector::CoarseVector(const CoarseColumns& columns)
    : send_rows_(columns.halo.send_rows),
      values_(columns.own() + std::ssize(columns.ghosts)),
      packed_(send_rows_.size()),
      exchange_(columns.comm, columns.halo, packed_, std::span(values_).subspan(columns.own())) {}

void CoarseVector::take(std::span<const double> own) {
  for (std::size_t k = 0; k < send_rows_.size(); ++k) packed_[k] = own[send_rows_[k]];
  exchange_.begin();
  std::copy(own.begin(), own.end(), values_.begin());
  exchange_.end();
}

void CoarseVector::add_up(std::span<double> own) {
  exchange_.begin_reverse();
  std::copy_n(values_.begin(), own.size(), own.begin());
  exchange_.end_reverse();
  for (std::size_t k = 0; k < send_rows_.size(); ++k) own[send_rows_[k]] += packed_[k];
}

}  // namespace trireme::multigrid
