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

// The same for a KSP whose loop runs on the host: a Mat of type trireme does not move to a GPU for
// it. Collective.
std::shared_ptr<Operator> operator_of_host_loop(Mat mat);

// Whether operator_of() is on a GPU, or would be. Collective.
bool would_loop_on_gpu(Mat mat);

}  // namespace trireme
