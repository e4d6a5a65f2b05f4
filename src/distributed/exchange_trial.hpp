// SPDX-License-Identifier: BSD-3-Clause
// How long an exchange takes for its halo, as a loop would run it: recorded where that is possible.
#pragma once

#include <mpi.h>

#include "distributed/gpu_exchange.hpp"
#include "distributed/halo.hpp"

namespace trireme {

// The minimum of the mean microseconds of some sends and receives, on the slowest rank. `halo` is
// the plan of the exchange. Throws as GpuExchange::check(), on every rank. Collective.
double halo_us(MPI_Comm comm, const HaloPlan& halo, GpuExchange& exchange);

}  // namespace trireme
