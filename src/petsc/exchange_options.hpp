// SPDX-License-Identifier: BSD-3-Clause
// The PETSc options that say how the GPUs of several ranks reach each other.
#pragma once

#include "distributed/gpu_exchange.hpp"

namespace trireme {

// Reads -trireme_exchange peer|nccl|mpi|mixed|peer+nccl|peer+mpi, -trireme_peer_timeout <seconds>
// and -trireme_ranks_per_node <ranks>. Throws Error{usage} for a negative number, or seconds that
// are not finite.
ExchangeRequest exchange_options();

}  // namespace trireme
