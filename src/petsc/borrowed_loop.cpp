// SPDX-License-Identifier: BSD-3-Clause
// Exchanges the types of two KSPs for the time of a call.
#include "petsc/borrowed_loop.hpp"

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

// While this lives, the KSP has the norm and the side that a KSP of the lender's type would have.
class NormOfLender {
 public:
  NormOfLender(KSP ksp, KSP lender) : ksp_(ksp) {
    const NormAndSide chosen = chosen_norm_of(ksp);
    NormAndSide norm;
    petsc_check(KSPSetNormType(lender, chosen.norm));
    petsc_check(KSPSetPCSide(lender, chosen.side));
    petsc_check(KSPGetNormType(lender, &norm.norm), ExitCode::usage);
    petsc_check(KSPGetPCSide(lender, &norm.side), ExitCode::usage);
    before_ = exchange_norm(ksp, norm);
  }
  ~NormOfLender() { exchange_norm(ksp_, before_); }
  NormOfLender(const NormOfLender&) = delete;
  NormOfLender& operator=(const NormOfLender&) = delete;

 private:
  KSP ksp_;
  NormAndSide before_;
};

}  // namespace

void BorrowedLoop::solve(KSP ksp, const char* type, bool read_options) {
  petsc_check(KSPCreate(comm_of(ksp), lender_.put()));
  petsc_check(KSPSetType(lender_, type));
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
