// SPDX-License-Identifier: BSD-3-Clause
// Exchanges the types of two KSPs for the time of a call.
#include "petsc/ksp/borrowed_loop.hpp"

#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

class Exchanged {
 public:
  Exchanged(KSP ksp, KSP lender) : ksp_(ksp), lender_(lender) { exchange_types(ksp_, lender_); }
  ~Exchanged() { exchange_types(ksp_, lender_); }
  Exchanged(const Exchanged&) = delete;
  Exchanged& operator=(const Exchanged&) = delete;

 private:
  KSP ksp_, lender_;
};

NormAndSide norm_of(KSP ksp) {
  NormAndSide norm;
  petsc_check(KSPGetNormType(ksp, &norm.norm), ExitCode::usage);
  petsc_check(KSPGetPCSide(ksp, &norm.side), ExitCode::usage);
  return norm;
}

// While this lives, the KSP has the norm and the side of the lender.
class NormOfLender {
 public:
  NormOfLender(KSP ksp, KSP lender) : ksp_(ksp), before_(exchange_norm(ksp, norm_of(lender))) {}
  ~NormOfLender() { exchange_norm(ksp_, before_); }
  NormOfLender(const NormOfLender&) = delete;
  NormOfLender& operator=(const NormOfLender&) = delete;

 private:
  KSP ksp_;
  NormAndSide before_;
};

}  // namespace

KSPNormType BorrowedLoop::prepare(KSP ksp, const char* type, std::int32_t restart) {
  const NormAndSide chosen = chosen_norm_of(ksp);
  petsc_check(KSPCreate(comm_of(ksp), lender_.put()));
  petsc_check(KSPSetType(lender_, type));
  petsc_check(KSPGMRESSetRestart(lender_, restart));  // does nothing for other types
  petsc_check(KSPSetNormType(lender_, chosen.norm));
  petsc_check(KSPSetPCSide(lender_, chosen.side));
  return norm_of(lender_).norm;
}

void BorrowedLoop::solve(KSP ksp, bool read_options) {
  const NormOfLender norm(ksp, lender_);
  const Exchanged exchanged(ksp, lender_);
  petsc_check(run_type(ksp, read_options));
}

void BorrowedLoop::extreme_singular_values(KSP ksp, PetscReal* largest, PetscReal* smallest) {
  *largest = *smallest = -1;
  if (!lender_) return;
  const Exchanged exchanged(ksp, lender_);
  petsc_check(KSPComputeExtremeSingularValues(ksp, largest, smallest));
}

void BorrowedLoop::eigenvalues(KSP ksp, PetscInt n, PetscReal* real, PetscReal* imaginary,
                               PetscInt* count) {
  *count = 0;
  if (!lender_) return;
  const Exchanged exchanged(ksp, lender_);
  petsc_check(KSPComputeEigenvalues(ksp, n, real, imaginary, count));
}

}  // namespace trireme
