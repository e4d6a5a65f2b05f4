// SPDX-License-Identifier: BSD-3-Clause
// P A P^T where a trial of the operator has shown that it is faster.
#include "petsc/mat/row_order.hpp"

#include <utility>

#include "base/error.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/pc/pc_needs.hpp"
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

bool leaves_row_order_free(const AnyPreconditioner& preconditioner) {
  return preconditioner.own() && preconditioner.own()->info.row_order_is_free;
}

}  // namespace

bool row_order_is_free(const SolverSpec& spec) {
  return choose_engine(spec).resident() && leaves_row_order_free(spec.first_preconditioner());
}

bool row_order_is_free(KSP ksp) {
  KSPType type = nullptr;
  petsc_check(KSPGetType(ksp, &type));
  return type && resident_method(type) && leaves_row_order_free(preconditioner_of(pc_of(ksp)));
}

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
