// SPDX-License-Identifier: BSD-3-Clause
// How the levels of a hierarchy on several GPUs get their exchanges.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "distributed/gpu_exchange.hpp"
#include "distributed/halo.hpp"

namespace trireme::multigrid {

// Makes the exchange of a plan, which outlives it. Collective.
using MakeExchange = std::function<std::unique_ptr<GpuExchange>(MPI_Comm, const HaloPlan&)>;

}  // namespace trireme::multigrid
