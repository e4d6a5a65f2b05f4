// SPDX-License-Identifier: BSD-3-Clause
// The rule, from what is known before a kernel is built.
#include "app/precision_choice.hpp"

#include "device/device.hpp"
#include "distributed/float_values.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/mat/case_kernels.hpp"
#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

// Below it, corrections of the residual in FP64 take what the loop gains.
constexpr double kLeastRtol = 1e-12;
// A matrix of fewer nonzeros fits into the shared memory of a GPU, where the loop keeps FP64, or
// its vectors fit into caches.
constexpr std::int64_t kLeastNonzeros = 4'000'000;
// Of the matrix in FP64, the layouts of its kernels, and vectors.
constexpr double kBytesPerNonzero = 40, kBytesPerRow = 200;

bool has_fp32_loop(const SolverSpec& spec, bool block) {
  const auto named = solvers::method_named(spec.first_method());
  const auto* const own = spec.first_preconditioner().own();
  if (!named || !own || named->info.block || named->info.host_only) return false;
  bool has = false;
  solvers::visit_preconditioner(own->kind, [&](auto m) {
    using M = typename decltype(m)::type::Prepared;
    solvers::visit_method(named->method, solvers::Variant::automatic, [&](auto entry) {
      using Algorithm = typename decltype(entry)::type;
      has = block ? solvers::kBlockHasFloats<Algorithm, M> : solvers::kHasFloats<Algorithm, M>;
    });
  });
  return has;
}

bool memory_suffices(const DistributedMatrix& matrix) {
  const double needed = kBytesPerNonzero * static_cast<double>(matrix.global_nnz) +
                        kBytesPerRow * static_cast<double>(matrix.global_rows());
  return static_cast<double>(device_memory().free_bytes) > needed;
}

}  // namespace

bool serves_in_fp32(const SolveContext& context, const KernelChoice& kernel) {
  const SolverSpec& spec = context.spec.solver;
  const DistributedMatrix& matrix = *context.matrix;
  if (kernel.device != Device::cuda || size_of(matrix.comm) > 1) return false;
  if (spec.rtol < kLeastRtol || matrix.global_nnz < kLeastNonzeros) return false;
  if (spec.chooses_preconditioner() || context.steps || !context.spec.petsc.empty()) return false;
  const CaseKernel about = find_case_kernel(kernel.name);
  if (!about.entry || !about.entry->cuda_float || !about.runs_on(kernel.device, Precision::mixed))
    return false;
  return choose_engine(spec).resident() && has_fp32_loop(spec, context.systems() > 1) &&
         memory_suffices(matrix) && float_range_suffices(matrix);
}

}  // namespace trireme
