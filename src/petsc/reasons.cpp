// SPDX-License-Identifier: BSD-3-Clause
// Reasons stand here as numbers, because their names change between releases of PETSc.
#include "petsc/reasons.hpp"

#include "petsc/ksp_types.hpp"

namespace trireme {
namespace {

constexpr int kPreconditionerFailed = -11;

struct Words {
  ExitCode code;
  const char* text;
};

Words words_of(int reason) {
  switch (reason) {
    case 0:
      return {ExitCode::not_converged, "not converged: the solve did not finish"};
    case 2:
    case 1:
      return {ExitCode::converged, "converged: relative tolerance reached"};
    case 3:
    case 9:
      return {ExitCode::converged, "converged: absolute tolerance reached"};
    case 4:
      return {ExitCode::converged, "converged: the iterations asked for are done"};
    case -3:
      return {ExitCode::not_converged, "not converged: maximum iterations reached"};
    case -4:
      return {ExitCode::not_converged,
              "not converged: the residual grew beyond the divergence bound (-ksp_divtol times the "
              "larger of ||b|| and the first residual); try another preconditioner or method"};
    case -5:
    case -6:
      return {ExitCode::breakdown,
              "breakdown: the method cannot go on from here; try another method "
              "or preconditioner"};
    case -7:
      return {ExitCode::breakdown, "breakdown: matrix or preconditioner is not symmetric"};
    case -8:
      return {ExitCode::breakdown,
              "breakdown: the preconditioner is indefinite, so the method does "
              "not apply; is the matrix positive definite?"};
    case -9:
      return {ExitCode::breakdown, "breakdown: NaN or infinity in the iteration"};
    case -10:
      return {ExitCode::breakdown,
              "breakdown: the matrix is not positive definite; try bicgstab, "
              "minres or gmres"};
    case -11:
      return {ExitCode::breakdown, "breakdown: the preconditioner could not be built"};
    default:
      return reason > 0 ? Words{ExitCode::converged, "converged"}
                        : Words{ExitCode::not_converged, "not converged"};
  }
}

void add_failed_preconditioner(KSP ksp, Verdict& verdict) {
  PC pc = nullptr;
  PCFailedReason reason = PC_NOERROR;
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCGetFailedReason(pc, &reason));
  switch (reason) {
    case PC_FACTOR_STRUCT_ZEROPIVOT:
    case PC_FACTOR_NUMERIC_ZEROPIVOT:
      verdict.text += " (zero pivot; try petsc: {pc_factor_shift_type: nonzero})";
      break;
    case PC_FACTOR_OUTMEMORY:
      verdict.exit_code = ExitCode::resource;
      verdict.text += " (not enough memory; use more ranks or nodes)";
      break;
    default:
      break;
  }
}

}  // namespace

Verdict verdict_of(KSPConvergedReason reason, bool stagnated) {
  const int number = static_cast<int>(reason);
  const Words words = words_of(number);
  Verdict verdict{
      .converged = number > 0, .exit_code = words.code, .text = words.text, .reason = reason};
  if (stagnated) {
    verdict.exit_code = ExitCode::not_converged;
    verdict.text =
        "not converged: b - A x stagnates, because the tolerance is below what FP64 allows here; "
        "raise rtol";
  }
  verdict.text += fmt::format(" ({})", KSPConvergedReasons[number]);
  return verdict;
}

Verdict verdict_of(KSP ksp) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc_check(KSPGetConvergedReason(ksp, &reason));
  const auto facts = ksp_facts(ksp);
  Verdict verdict = verdict_of(reason, facts && facts->stagnated);
  if (static_cast<int>(reason) == kPreconditionerFailed) add_failed_preconditioner(ksp, verdict);
  return verdict;
}

}  // namespace trireme
