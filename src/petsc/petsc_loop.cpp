// SPDX-License-Identifier: BSD-3-Clause
// A convergence test around the KSP's own.
#include "petsc/petsc_loop.hpp"

#include <algorithm>

#include "parallel/interrupt.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kIterationsBetween = 10;

}  // namespace

LowerIterationLimit::LowerIterationLimit(KSP ksp, std::int64_t iterations) : ksp_(ksp) {
  petsc_check(KSPGetTolerances(ksp, &rtol_, &atol_, &divtol_, &before_));
  const PetscInt limit = std::max<PetscInt>(0, before_ - static_cast<PetscInt>(iterations));
  petsc_check(KSPSetTolerances(ksp_, rtol_, atol_, divtol_, limit));
}

LowerIterationLimit::~LowerIterationLimit() {
  KSPSetTolerances(ksp_, rtol_, atol_, divtol_, before_);
}

EndedBySignal::EndedBySignal(KSP ksp, const Checkpoints& checkpoints)
    : ksp_(ksp), test_(exchange_convergence_test(ksp, {test, this})), checkpoints_(checkpoints) {}

EndedBySignal::~EndedBySignal() { exchange_convergence_test(ksp_, test_); }

PetscErrorCode EndedBySignal::test(KSP ksp, PetscInt iteration, PetscReal norm,
                                   KSPConvergedReason* reason, void* context) {
  auto& self = *static_cast<EndedBySignal*>(context);
  const PetscErrorCode error = self.test_.test(ksp, iteration, norm, reason, self.test_.context);
  if (error != kPetscSuccess || *reason != KSP_CONVERGED_ITERATING) return error;
  if (++self.tests_ > kIterationsBetween && self.tests_ % kIterationsBetween != 0) return error;
  const MPI_Comm comm = comm_of(ksp);
  const bool due = self.checkpoints_.due && self.checkpoints_.due();
  int wishes[] = {InterruptGuard::asked() ? 1 : 0, due ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, wishes, 2, MPI_INT, MPI_MAX, comm);
  self.stopped_ = wishes[0] != 0;
  if (self.stopped_) *reason = kKspStopped;
  if (self.stopped_ || wishes[1] == 0) return error;
  return petsc_guard(comm, [&] {
    Vec x = nullptr;  // a method that cannot show it goes on without checkpoints
    if (KSPBuildSolution(ksp, nullptr, &x) == kPetscSuccess) self.checkpoints_.keep(iteration, x);
  });
}

}  // namespace trireme
