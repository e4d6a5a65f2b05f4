// SPDX-License-Identifier: BSD-3-Clause
// Exchanges the ghosts of a coarse vector in both directions.
#include "multigrid/ranks/coarse_vector.hpp"

#include <algorithm>

namespace trireme::multigrid {

CoarseVector::CoarseVector(const CoarseColumns& columns)
    : first_(columns.first()),
      own_(columns.own()),
      ghosts_(columns.ghosts),
      send_rows_(columns.halo.send_rows),
      values_(own_ + std::ssize(ghosts_)),
      packed_(send_rows_.size()),
      exchange_(columns.comm, columns.halo, packed_, std::span(values_).subspan(own_)) {}

void CoarseVector::take(std::span<const double> own) {
  for (std::size_t k = 0; k < send_rows_.size(); ++k) packed_[k] = own[send_rows_[k]];
  exchange_.begin();
  std::copy(own.begin(), own.end(), values_.begin());
  exchange_.end();
}

void CoarseVector::take_from_whole(std::span<const double> whole) {
  std::copy_n(whole.begin() + first_, own_, values_.begin());
  for (std::size_t g = 0; g < ghosts_.size(); ++g) values_[own_ + g] = whole[ghosts_[g]];
}

void CoarseVector::add_up(std::span<double> own) {
  exchange_.begin_reverse();
  std::copy_n(values_.begin(), own.size(), own.begin());
  exchange_.end_reverse();
  for (std::size_t k = 0; k < send_rows_.size(); ++k) own[send_rows_[k]] += packed_[k];
}

}  // namespace trireme::multigrid
