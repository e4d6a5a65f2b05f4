// SPDX-License-Identifier: BSD-3-Clause
// A model problem as a source of a system: each rank makes its own rows.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "io/system_source.hpp"
#include "sparse/generators.hpp"

namespace trireme {

// The matrix of sparse/generators.hpp; its only vectors are the coordinates
// of its nodes, /coordinates, where the kind has them. `name` stands in messages. Reading the
// matrix throws Error{usage} for a fault of the spec and Error{resource} where the memory does not
// suffice, on every rank. Collective.
std::unique_ptr<SystemSource> generated_source(MPI_Comm comm, const GenerateSpec& spec,
                                               const std::string& name);

}  // namespace trireme
