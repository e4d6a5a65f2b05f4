// SPDX-License-Identifier: BSD-3-Clause
// The rungs (planning/rungs.hpp) of a case, and the case of a rung.
#pragma once

#include <vector>

#include "config/case.hpp"
#include "planning/rungs.hpp"

namespace trireme {

// At least one. A preconditioner that the case names is never changed. The case leaves the method
// to the ladder.
std::vector<Rung> rungs_for(const Case& c, const MatrixLook& matrix);

// The case in which the rung is named.
Case case_of(const Case& asked, const Rung& rung);

}  // namespace trireme
