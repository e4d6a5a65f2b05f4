// SPDX-License-Identifier: BSD-3-Clause
// Reasons stand here as numbers, because their names change between releases of PETSc.
#include "petsc/ksp/reasons.hpp"

#include "petsc/ksp/ksp_types.hpp"
#include "petsc/pc/pc_needs.hpp"

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
              "not converged: the residual grew beyond the divergence bound"};
    case -5:
    case -6:
      return {ExitCode::breakdown, "breakdown: the method cannot go on from here"};
    case -7:
      return {ExitCode::breakdown, "breakdown: matrix or preconditioner is not symmetric"};
    case -8:
      return {ExitCode::breakdown,
              "breakdown: the preconditioner is indefinite, and the method needs a definite one"};
    case -9:
      return {ExitCode::breakdown, "breakdown: NaN or infinity in the iteration"};
    case -10:
      return {ExitCode::breakdown,
              "breakdown: the matrix is indefinite, and the method needs a definite one"};
    case -11:
      return {ExitCode::breakdown, "breakdown: the preconditioner could not be built"};
    default:
      return reason > 0 ? Words{ExitCode::converged, "converged"}
                        : Words{ExitCode::not_converged, "not converged"};
  }
}

struct PcFailure {
  int zero_pivot = 0, memory = 0;
  int in_block = 0;  // of block Jacobi or additive Schwarz
};

PcFailure failure_of(PC pc) {
  PCFailedReason reason = PC_NOERROR;
  petsc_check(PCGetFailedReason(pc, &reason));
  PcFailure failure;
  if (reason == PC_FACTOR_STRUCT_ZEROPIVOT || reason == PC_FACTOR_NUMERIC_ZEROPIVOT)
    failure.zero_pivot = 1;
  if (reason == PC_FACTOR_OUTMEMORY) failure.memory = 1;
  const std::string type = type_of(pc);
  if (type != PCBJACOBI && type != PCASM) return failure;
  PetscInt count = 0;
  KSP* blocks = nullptr;
  petsc_check(
      (type == PCBJACOBI ? PCBJacobiGetSubKSP : PCASMGetSubKSP)(pc, &count, nullptr, &blocks));
  for (PetscInt k = 0; k < count; ++k) {
    const PcFailure of_block = failure_of(pc_of(blocks[k]));
    failure.zero_pivot |= of_block.zero_pivot;
    failure.memory |= of_block.memory;
    failure.in_block = 1;
  }
  return failure;
}

// A block of one rank may have failed alone. Collective.
void add_failed_preconditioner(KSP ksp, Verdict& verdict) {
  PcFailure failure = failure_of(pc_of(ksp));
  MPI_Allreduce(MPI_IN_PLACE, &failure, 3, MPI_INT, MPI_MAX, comm_of(ksp));
  if (failure.memory != 0) {
    verdict.exit_code = ExitCode::resource;
    verdict.text += " (not enough memory; use more ranks or nodes)";
  } else if (failure.zero_pivot != 0) {
    verdict.text +=
        fmt::format("; a pivot is zero: petsc: {{{}pc_factor_shift_type: nonzero}} replaces it",
                    failure.in_block != 0 ? "sub_" : "");
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
  if (static_cast<int>(reason) != kPreconditionerFailed) return verdict;
  const std::size_t name = verdict.text.rfind(" (");
  const std::string petscs = verdict.text.substr(name);
  verdict.text.resize(name);
  add_failed_preconditioner(ksp, verdict);
  verdict.text += petscs;
  return verdict;
}

}  // namespace trireme
