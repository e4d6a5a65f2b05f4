// SPDX-License-Identifier: BSD-3-Clause
#include "api/residual.hpp"

#include <algorithm>

#include "distributed/row_sizes.hpp"

namespace trireme::api {

void HostResidual::multiply(const DistributedMatrix& matrix, std::span<const double> x) {
  const HaloPlan& halo = matrix.halo;
  if (!exchange_) {
    packed_.resize(halo.send_rows.size());
    ghosts_.resize(static_cast<std::size_t>(halo.ghosts));
    exchange_.emplace(matrix.comm, halo, packed_, ghosts_);
  }
  for (std::size_t k = 0; k < packed_.size(); ++k) packed_[k] = x[halo.send_rows[k]];
  exchange_->begin();
  std::ranges::fill(r_, 0.0);
  add_plain_product(matrix.blocks.local, x, r_);
  exchange_->end();
  add_plain_product(matrix.blocks.ghost, ghosts_, r_);
}

Residual HostResidual::of(const Ranks& ranks, const DistributedMatrix& matrix,
                          std::span<const double> b, std::span<const double> x) {
  const RowSizes& sizes = row_sizes(matrix);
  if (!ranks.many()) return plain_residual(matrix, matrix.blocks.local.values, sizes, b, x, r_);
  r_.resize(b.size());
  multiply(matrix, x);
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = b[i] - r_[i];
  Residual result{.norm = ranks.norm(r_)};
  const double of_b = sizes.differ ? ranks.norm(in_scale_of_rows(sizes, b)) : 0;
  if (of_b > 0) result.of_rows = ranks.norm(in_scale_of_rows(sizes, r_)) / of_b;
  return result;
}

}  // namespace trireme::api
