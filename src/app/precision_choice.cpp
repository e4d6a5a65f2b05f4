// SPDX-License-Identifier: BSD-3-Clause
// The rule, from what is known before a kernel is built.
#include "app/precision_choice.hpp"

#include "device/device.hpp"
#include "distributed/boundary_rows.hpp"
#include "distributed/float_values.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/mat/case_kernels.hpp"
#include "solvers/solver.hpp"

namespace trireme {
namespace {

// Below it, corrections of the residual in FP64 take what the loop gains.
constexpr double kLeastRtol = 1e-12;
// Per GPU. A matrix of fewer nonzeros fits into the shared memory of a GPU, where the loop keeps
// FP64, or its vectors fit into caches.
constexpr std::int64_t kLeastNonzeros = 4'000'000;
// Of the matrix in FP64, the layouts of its kernels, and vectors.
constexpr double kBytesPerNonzero = 40, kBytesPerRow = 200;

bool has_fp32_loop(const SolverSpec& spec, bool block) {
  const auto named = solvers::method_named(spec.first_method());
  const auto* const own = spec.first_preconditioner().own();
  if (!named || !own || named->info.block || named->info.host_only) return false;
  return solvers::has_fp32_vectors(named->method, solvers::Variant::automatic, own->kind, block);
}

// Whether CudaOperator::takes_floats() can be true. The same on every rank. Collective.
bool blocks_take_floats(const DistributedMatrix& matrix) {
  const CsrMatrix<double>&local = matrix.blocks.local, &ghost = matrix.blocks.ghost;
  const bool here = local.blocks().size() <= 1 && (ghost.nnz() == 0 || is_boundary(ghost));
  return !any_rank(matrix.comm, !here);
}

// Where ranks share GPUs, as if all of them shared one. The same on every rank. Collective.
bool memory_suffices(const DistributedMatrix& matrix) {
  const bool shared = size_of(matrix.comm) > 1 && !gpus_that_are_shared(matrix.comm).empty();
  const std::int64_t nnz = shared ? matrix.global_nnz : matrix.blocks.nnz();
  const std::int64_t rows = shared ? matrix.global_rows() : matrix.local_rows();
  const double needed =
      kBytesPerNonzero * static_cast<double>(nnz) + kBytesPerRow * static_cast<double>(rows);
  return !any_rank(matrix.comm, static_cast<double>(device_memory().free_bytes) <= needed);
}

}  // namespace

bool serves_in_fp32(const SolveContext& context, const KernelChoice& kernel) {
  const SolverSpec& spec = context.spec.solver;
  const DistributedMatrix& matrix = *context.matrix;
  const int ranks = size_of(matrix.comm);
  const bool several = context.systems() > 1;
  if (kernel.device != Device::cuda || spec.rtol < kLeastRtol) return false;
  if (matrix.global_nnz < kLeastNonzeros * ranks) return false;
  if (several && ranks > 1) return false;  // CudaOperator::multiplies_float_vectors()
  if (spec.chooses_preconditioner() || context.steps || !context.spec.petsc.empty()) return false;
  const CaseKernel about = find_case_kernel(kernel.name);
  if (!about.entry || !about.entry->cuda_float || !about.runs_on(kernel.device, Precision::mixed))
    return false;
  return choose_engine(spec).resident() && has_fp32_loop(spec, several) &&
         blocks_take_floats(matrix) && memory_suffices(matrix) && float_range_suffices(matrix);
}

}  // namespace trireme
