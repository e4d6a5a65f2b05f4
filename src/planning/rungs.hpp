// SPDX-License-Identifier: BSD-3-Clause
// The rungs of `method: auto`: methods with their preconditioners, in the order in which a run
// tries them, by what is seen of the matrix. Nothing here computes or communicates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/choices.hpp"
#include "distributed/matrix_look.hpp"
#include "solvers/preconditioners/any_preconditioner.hpp"

namespace trireme {

using solvers::AnyPreconditioner;

// When a rung serves.
enum class RungFor {
  any_failure,  // of the rung before
  indefinite    // only where CG has met a negative curvature, or the like
};

struct Rung {
  std::string method;
  std::optional<AnyPreconditioner> preconditioner;  // empty: auto
  std::string why;                                  // "the matrix is not symmetric"
  Scaling scaling = Scaling::none;                  // where the caller names none
  std::int64_t restart = 0;                         // of gmres; 0: the caller's
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

// What a caller who leaves the method to the ladder asks for all the same.
struct RungRequest {
  std::optional<AnyPreconditioner> preconditioner;  // of every rung; empty: auto
  std::optional<Scaling> scaling;                   // of every rung; empty: each has its own
  bool resident_only = false;  // without the rungs that only a loop of PETSc's has
  bool names_factors = false;  // `preconditioner` is complete factors: direct is the only rung
};

// At least one.
std::vector<Rung> rungs_for(const RungRequest& asked, const MatrixLook& matrix);

}  // namespace trireme
