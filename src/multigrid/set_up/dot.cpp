// SPDX-License-Identifier: BSD-3-Clause
// Sums chunks of a fixed number of rows, and then the chunks.
#include "multigrid/set_up/dot.hpp"

#include <cstdint>

#include "multigrid/set_up/host_place.hpp"

namespace trireme::multigrid {

double dot(MPI_Comm comm, std::span<const double> a, std::span<const double> b) {
  double sum = HostPlace::sum(static_cast<std::int64_t>(a.size()),
                              [&](std::int64_t i) { return a[i] * b[i]; });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  return sum;
}

}  // namespace trireme::multigrid
