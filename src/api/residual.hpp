// SPDX-License-Identifier: BSD-3-Clause
// b - A x of a matrix on the host, whose rows may lie on several ranks, by plain CSR in FP64. It
// shares no code with the kernels and with the halo of the operators.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "api/ranks.hpp"
#include "base/array.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/plain_residual.hpp"

namespace trireme::api {

class HostResidual {
 public:
  // The worst row is looked for on one rank only. Collective. `matrix` is the same one in every
  // call.
  Residual of(const Ranks& ranks, const DistributedMatrix& matrix, std::span<const double> b,
              std::span<const double> x);

 private:
  // Brings entries of vectors to the ranks whose rows have nonzeros in their columns.
  class Ghosts {
   public:
    explicit Ghosts(const DistributedMatrix& matrix);
    std::span<const double> of(std::span<const double> x);

   private:
    // As MPI_Alltoallv takes them: one number per rank.
    struct Parts {
      std::vector<int> counts, starts;
    };
    MPI_Comm comm_;
    Parts wanted_, asked_;
    Array<std::int64_t> asked_rows_;  // of this rank
    Array<double> sent_, ghosts_;
  };

  std::optional<Ghosts> ghosts_{};  // made at the first use, on several ranks
  Array<double> r_;
};

}  // namespace trireme::api
