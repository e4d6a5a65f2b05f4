// SPDX-License-Identifier: BSD-3-Clause
// What a solve by a loop of PETSc's own needs to be stopped, to keep checkpoints, and to go on.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <functional>

#include "petsc/private_headers.hpp"

namespace trireme {

// When `due` is true on rank 0, a solve of the resident engine ends as if a signal had come, and
// the caller keeps what it has come to. A loop of PETSc's own calls `keep` with its iteration and
// its x, and goes on.
struct Checkpoints {
  std::function<bool()> due;
  std::function<void(std::int64_t iteration, Vec x)> keep;  // collective
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

// While this lives, a signal on any rank ends the loop of the KSP, and checkpoints are kept. The
// loops of PETSc call nothing but their convergence test, so this is one. The ranks agree by a
// reduction, which they do at every one of the first iterations, and then at every tenth.
class EndedBySignal {
 public:
  // `checkpoints` must outlive this.
  EndedBySignal(KSP ksp, const Checkpoints& checkpoints);
  ~EndedBySignal();
  EndedBySignal(const EndedBySignal&) = delete;
  EndedBySignal& operator=(const EndedBySignal&) = delete;

  bool stopped() const { return stopped_; }

 private:
  static PetscErrorCode test(KSP ksp, PetscInt iteration, PetscReal norm,
                             KSPConvergedReason* reason, void* context);

  KSP ksp_;
  ConvergenceTest test_;
  const Checkpoints& checkpoints_;
  std::int64_t tests_ = 0;
  bool stopped_ = false;
};

}  // namespace trireme
