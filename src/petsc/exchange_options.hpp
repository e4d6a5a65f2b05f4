// SPDX-License-Identifier: BSD-3-Clause
// The PETSc options that say how the GPUs of several ranks reach each other.
#pragma once

#include "distributed/gpu_exchange.hpp"

namespace trireme {

// Reads -trireme_exchange peer|nccl|mpi and -trireme_peer_timeout <seconds>. Throws Error{usage}
// for a number of seconds that is negative or not finite.
ExchangeRequest exchange_options();

}  // namespace trireme
