// SPDX-License-Identifier: BSD-3-Clause
// P A P^T where a trial of the operator has shown that it is faster.
#include "petsc/mat/row_order.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/pc/pc_types.hpp"
#include "petsc/shim.hpp"
#include "solvers/permuted_system.hpp"

namespace trireme {
namespace {

// An upper bound, but for the few products of a Chebyshev preconditioner.
std::int64_t max_products(KSP ksp) {
  PetscInt iterations = 0;
  KSPType type = nullptr;
  petsc_check(KSPGetTolerances(ksp, nullptr, nullptr, nullptr, &iterations));
  petsc_check(KSPGetType(ksp, &type));
  const auto method = resident_method(type);
  return std::int64_t{iterations} * (method ? method->info.products : 1);
}

// None where the resident engine does not solve.
std::optional<solvers::PreconditionerKind> preconditioner_of(KSP ksp) {
  KSPType ksp_type = nullptr;
  PC pc = nullptr;
  PCType type = nullptr;
  petsc_check(KSPGetType(ksp, &ksp_type));
  petsc_check(KSPGetPC(ksp, &pc));
  petsc_check(PCGetType(pc, &type));
  if (!ksp_type || !resident_method(ksp_type)) return std::nullopt;
  return resident_preconditioner(type ? type : PCNONE);
}

bool is_free(std::optional<solvers::PreconditionerKind> kind) {
  return kind && solvers::info_of(*kind).row_order_is_free;
}

}  // namespace

bool row_order_is_free(const SolverSpec& spec) {
  return choose_engine(spec).resident() &&
         is_free(resident_preconditioner(resident_pc_type(spec.preconditioner)));
}

bool row_order_is_free(KSP ksp) { return is_free(preconditioner_of(ksp)); }

void require_free_order(solvers::PreconditionerSpec::Kind kind) {
  if (!solvers::info_of(kind).row_order_is_free)
    fail(ExitCode::usage,
         "the preconditioner ({}) depends on which rows are neighbours; use ordering: given",
         solvers::info_of(kind).summary);
}

void choose_row_order(KSP ksp) {
  Mat amat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  if (!row_order_is_free(ksp)) return;
  if (const auto op = std::dynamic_pointer_cast<CudaOperator>(operator_of(amat)))
    op->choose_row_order(max_products(ksp));
}

std::unique_ptr<solvers::CudaSystem> make_cuda_system(std::shared_ptr<CudaOperator> op,
                                                      solvers::PreconditionerSpec::Kind kind) {
  if (solvers::info_of(kind).row_order_is_free && op->permuted())
    return std::make_unique<solvers::PermutedSystem>(op->permuted());
  return std::make_unique<CudaOperatorSystem>(std::move(op));
}

}  // namespace trireme
