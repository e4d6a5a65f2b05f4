// SPDX-License-Identifier: BSD-3-Clause
// Why a solve has ended, in words and as an exit code.
#pragma once

#include <string>

#include "base/error.hpp"
#include "petsc/shim.hpp"

namespace trireme {

struct Verdict {
  bool converged = false;
  ExitCode exit_code = ExitCode::internal;
  std::string text;  // "converged: relative tolerance (CONVERGED_RTOL)"
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
};

Verdict verdict_of(KSP ksp);
// The verdict on a loop that ended for `reason`. `stagnated` as in KspFacts.
Verdict verdict_of(KSPConvergedReason reason, bool stagnated);

}  // namespace trireme
