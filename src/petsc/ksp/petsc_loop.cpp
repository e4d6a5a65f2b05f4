// SPDX-License-Identifier: BSD-3-Clause
// A convergence test around the KSP's own.
#include "petsc/ksp/petsc_loop.hpp"

#include <algorithm>
#include <cmath>

#include "parallel/interrupt.hpp"
#include "petsc/shim.hpp"
#include "petsc/vectors.hpp"

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

EndedBySignal::EndedBySignal(KSP ksp, const Checkpoints& checkpoints, const RowSizes& row_sizes,
                             bool refines)
    : ksp_(ksp),
      test_(exchange_convergence_test(ksp, {test, this})),
      checkpoints_(checkpoints),
      row_sizes_(row_sizes),
      refines_(refines) {}

EndedBySignal::~EndedBySignal() { exchange_convergence_test(ksp_, test_); }

bool EndedBySignal::rows_are_small() {
  Vec b = right_hand_side_of(ksp_), r = nullptr;
  VecHandle work;
  petsc_check(VecDuplicate(b, work.put()));
  if (KSPBuildResidual(ksp_, nullptr, work, &r) != kPetscSuccess) return true;
  const Array<double> of_r = local_values(r), of_b = local_values(b);
  double squares[] = {0, 0};
  for (std::size_t i = 0; i < of_r.size(); ++i) {
    const double scale = row_sizes_.inverse[i];
    squares[0] += scale * of_r[i] * (scale * of_r[i]);
    squares[1] += scale * of_b[i] * (scale * of_b[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, squares, 2, MPI_DOUBLE, MPI_SUM, comm_of(ksp_));
  PetscReal rtol = 0;
  petsc_check(KSPGetTolerances(ksp_, &rtol, nullptr, nullptr, nullptr));
  return !(squares[1] > 0) || std::sqrt(squares[0]) <= rtol * std::sqrt(squares[1]);
}

bool EndedBySignal::gains_nothing(double norm) {
  constexpr double kLeastGain = 2;
  constexpr int kSlowIterations = 2;
  slow_ = norm * kLeastGain > last_norm_ ? slow_ + 1 : 0;
  last_norm_ = norm;
  return slow_ >= kSlowIterations;
}

PetscErrorCode EndedBySignal::test(KSP ksp, PetscInt iteration, PetscReal norm,
                                   KSPConvergedReason* reason, void* context) {
  auto& self = *static_cast<EndedBySignal*>(context);
  const PetscErrorCode error = self.test_.test(ksp, iteration, norm, reason, self.test_.context);
  const bool claims = *reason == KSP_CONVERGED_RTOL || *reason == KSP_CONVERGED_ATOL;
  if (error == kPetscSuccess && claims && self.row_sizes_.differ && norm > 0) {
    const PetscErrorCode failed = petsc_guard(comm_of(ksp), [&] {
      if (iteration >= self.next_claim_ && self.rows_are_small()) return;
      if (iteration >= self.next_claim_) self.next_claim_ = iteration + 1 + iteration / 20;
      *reason = KSP_CONVERGED_ITERATING;
    });
    if (failed != kPetscSuccess) return failed;
  }
  if (error == kPetscSuccess && *reason == KSP_CONVERGED_ITERATING && self.refines_ &&
      self.gains_nothing(norm)) {
    self.stands_still_ = true;
    *reason = KSP_DIVERGED_ITS;
  }
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
    if (KSPBuildSolution(ksp, nullptr, &x) != kPetscSuccess) return;
    if (!self.checkpoints_.keep(iteration, x)) *reason = KSP_DIVERGED_ITS;
  });
}

}  // namespace trireme
