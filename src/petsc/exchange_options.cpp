// SPDX-License-Identifier: BSD-3-Clause
// Reads PETSc's options database.
#include "petsc/exchange_options.hpp"

#include <cstdint>
#include <limits>

#include "petsc/shim.hpp"

namespace trireme {

ExchangeRequest exchange_options() {
  ExchangeRequest request;
  char way[16] = "";
  petsc_check(
      PetscOptionsGetString(nullptr, nullptr, "-trireme_exchange", way, sizeof way, nullptr));
  request.way = way;
  petsc_check(PetscOptionsGetReal(nullptr, nullptr, "-trireme_peer_timeout", &request.peer_timeout,
                                  nullptr));
  if (!(request.peer_timeout >= 0 && request.peer_timeout < 1e9))
    fail(ExitCode::usage,
         "-trireme_peer_timeout {} must be a number of seconds from 0 to 1e9; 0 waits for ever",
         request.peer_timeout);
  PetscInt ranks_per_node = 0;
  petsc_check(
      PetscOptionsGetInt(nullptr, nullptr, "-trireme_ranks_per_node", &ranks_per_node, nullptr));
  const std::int64_t wide = ranks_per_node;
  if (wide < 0 || wide > std::numeric_limits<int>::max())
    fail(ExitCode::usage,
         "-trireme_ranks_per_node {} must be a number of ranks, or 0 for the nodes as they are",
         ranks_per_node);
  request.ranks_per_node = static_cast<int>(ranks_per_node);
  return request;
}

}  // namespace trireme
