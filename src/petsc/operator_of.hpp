// SPDX-License-Identifier: BSD-3-Clause
// The Trireme operator behind a Mat, for a KSP that runs its whole loop by itself.
#pragma once

#include <memory>

#include "distributed/operator.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// The operator of a shell (mat_shell.hpp) or of a Mat of type trireme (mat_trireme.hpp), which
// follows the values of the matrix; null for any other Mat. A KSP asks again whenever the state of
// the Mat has changed. Collective.
std::shared_ptr<Operator> operator_of(Mat mat);

}  // namespace trireme
