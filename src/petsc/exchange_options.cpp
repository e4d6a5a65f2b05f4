// SPDX-License-Identifier: BSD-3-Clause
// Reads PETSc's options database.
#include "petsc/exchange_options.hpp"

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
  return request;
}

}  // namespace trireme
