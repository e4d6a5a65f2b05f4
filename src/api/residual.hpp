// SPDX-License-Identifier: BSD-3-Clause
// b - A x of a matrix on the host, whose rows may lie on several ranks.
#pragma once

#include <optional>
#include <span>

#include "api/ranks.hpp"
#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/halo.hpp"
#include "distributed/plain_residual.hpp"

namespace trireme::api {

class HostResidual {
 public:
  // By plain CSR in FP64. The worst row is looked for on one rank only. Collective. `matrix` is the
  // same one in every call.
  Residual of(const Ranks& ranks, const DistributedMatrix& matrix, std::span<const double> b,
              std::span<const double> x);

 private:
  void multiply(const DistributedMatrix& matrix, std::span<const double> x);

  Array<double> r_, packed_, ghosts_;
  std::optional<HaloExchange> exchange_{};  // made at the first use, on several ranks
};

}  // namespace trireme::api
