// SPDX-License-Identifier: BSD-3-Clause
// The rungs of `method: auto`: methods with their preconditioners, in the order in which a run
// tries them, by what is seen of the matrix. Nothing here computes or communicates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/case.hpp"
#include "distributed/matrix_look.hpp"

namespace trireme {

// When a rung serves.
enum class RungFor {
  any_failure,  // of the rung before
  indefinite    // only where CG has met a negative curvature, or the like
};

struct Rung {
  std::string method;
  std::optional<AnyPreconditioner> preconditioner;  // empty: auto
  std::string why;                                  // "the matrix is not symmetric"
  Scaling scaling = Scaling::none;                  // where the case names none
  std::int64_t restart = 0;                         // of gmres; 0: that of the case
  RungFor serves = RungFor::any_failure;
  // Its loop may end where the residual stands still, since the next one may do better.
  bool may_stand_still = false;

  bool is_direct() const { return method == kDirect; }
  std::string preconditioner_word() const {
    return preconditioner ? preconditioner->name() : std::string(kAuto);
  }
  bool operator==(const Rung& other) const {
    return method == other.method && preconditioner == other.preconditioner &&
           scaling == other.scaling;
  }
};

// At least one. A preconditioner that the case names is never changed. The case leaves the method
// to the ladder.
std::vector<Rung> rungs_for(const Case& c, const MatrixLook& matrix);

// The case in which the rung is named.
Case case_of(const Case& asked, const Rung& rung);

}  // namespace trireme
