// SPDX-License-Identifier: BSD-3-Clause
// What a solve by a loop of PETSc's own needs to be stopped, to keep checkpoints, and to go on.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <functional>
#include <limits>

#include "distributed/row_sizes.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {

// When `due` is true on rank 0, a solve of the resident engine ends as if a signal had come, and
// the caller keeps what it has come to. A loop of PETSc's own calls `keep` with its iteration and
// its x, and goes on where that says so; else it ends unconverged.
struct Checkpoints {
  std::function<bool()> due;
  std::function<bool(std::int64_t iteration, Vec x)> keep;  // collective
};

// While this lives, the iteration limit of the KSP is lower by the iterations of an earlier run.
class LowerIterationLimit {
 public:
  LowerIterationLimit(KSP ksp, std::int64_t iterations);
  ~LowerIterationLimit();
  LowerIterationLimit(const LowerIterationLimit&) = delete;
  LowerIterationLimit& operator=(const LowerIterationLimit&) = delete;

 private:
  KSP ksp_;
  PetscReal rtol_ = 0, atol_ = 0, divtol_ = 0;
  PetscInt before_ = 0;
};

// While this lives, a signal on any rank ends the loop of the KSP, checkpoints are kept, and a
// claim of convergence counts only where b - A x is small in the scale of the rows too. The loops
// of PETSc call nothing but their convergence test, so this is one. The ranks agree on a signal by
// a reduction, which they do at every one of the first iterations, and then at every tenth.
class EndedBySignal {
 public:
  // The references must outlive this. `refines`: the loop is refinement by complete factors, which
  // gains digits in each iteration or gains none, so that it ends where it gains none.
  EndedBySignal(KSP ksp, const Checkpoints& checkpoints, const RowSizes& row_sizes,
                bool refines = false);
  ~EndedBySignal();
  EndedBySignal(const EndedBySignal&) = delete;
  EndedBySignal& operator=(const EndedBySignal&) = delete;

  bool stopped() const { return stopped_; }
  bool stands_still() const { return stands_still_; }

 private:
  static PetscErrorCode test(KSP ksp, PetscInt iteration, PetscReal norm,
                             KSPConvergedReason* reason, void* context);

  // Whether ||R (b - A x)|| <= rtol ||R b||, where R has one over the size of each row; true where
  // the method cannot show its residual.
  bool rows_are_small();
  bool gains_nothing(double norm);

  KSP ksp_;
  ConvergenceTest test_;
  const Checkpoints& checkpoints_;
  const RowSizes& row_sizes_;
  std::int64_t tests_ = 0;
  PetscInt next_claim_ = 0;  // the iteration from which a claim is looked at again
  bool stopped_ = false;
  bool refines_, stands_still_ = false;
  int slow_ = 0;  // iterations in turn that gained too little
  double last_norm_ = std::numeric_limits<double>::infinity();
};

}  // namespace trireme
