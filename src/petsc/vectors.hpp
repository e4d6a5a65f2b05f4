// SPDX-License-Identifier: BSD-3-Clause
// This rank's part of a PETSc vector as an array, copied; a vector on a GPU is brought to the host.
#pragma once

#include <petscvec.h>

#include <span>

#include "base/array.hpp"

namespace trireme {

Array<double> local_values(Vec vec);
void set_local_values(Vec vec, std::span<const double> values);  // as many as are local

}  // namespace trireme
