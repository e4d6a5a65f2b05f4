// SPDX-License-Identifier: BSD-3-Clause
// Makes the resident solver for a Mat and a PC, on the host or on a GPU.
#include "petsc/ksp/ksp_engine.hpp"

#include <utility>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "parallel/collective.hpp"
#include "parallel/nodes.hpp"
#include "petsc/ksp/ksp_rules.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/ksp/loop_preconditioner.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/mat/row_order.hpp"
#include "petsc/mat/row_sizes_of.hpp"
#include "petsc/pc/given_pc.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "petsc/pc/pc_types.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"
#include "solvers/cuda_block_solver.hpp"
#include "solvers/host_block_solver.hpp"

namespace trireme {
namespace {

using solvers::PreconditionerSpec;

PetscObjectId id_of(void* object) {
  PetscObjectId id = 0;
  petsc_check(PetscObjectGetId(static_cast<PetscObject>(object), &id));
  return id;
}

// Runs `work`, which sets up a preconditioner of this kind. The ranks agree on an error, by
// themselves where the set-up communicates.
template <class Work>
void set_up(MPI_Comm comm, PreconditionerSpec::Kind kind, const Work& work) {
  if (solvers::info_of(kind).sets_up_together)
    work();
  else
    collectively(comm, work);
}

}  // namespace

KspEngine& engine_of(KSP ksp) { return *static_cast<KspEngine*>(data_of(ksp)); }

void KspEngine::set_variant(solvers::Variant variant) {
  if (variant != variant_) forget();
  variant_ = variant;
}

void KspEngine::set_method_options(const solvers::MethodOptions& options) {
  if (options != method_options_) forget();
  method_options_ = options;
}

bool KspEngine::Key::same_but_for_values(const Key& other) const {
  Key with_its_states = *this;
  with_its_states.amat_state = other.amat_state;
  with_its_states.pmat_state = other.pmat_state;
  return with_its_states == other;
}

void KspEngine::forget() {
  block_solver_.reset();
  solver_.reset();
  cuda_solver_ = nullptr;
  host_system_.reset();
  cuda_system_.reset();
  operator_.reset();
  applied_.reset();
}

// A PC of PETSc may depend on more than r, such as one with a Krylov method inside, which the
// longer recurrences of the other variants bear less well than the classic ones.
solvers::Variant KspEngine::variant_on_host(const LoopInputs& inputs, bool jacobi) {
  using solvers::Variant;
  const MPI_Comm comm = comm_of(inputs.amat);
  const bool several =
      host_system_->processes() > 1 && solvers::has_variant(method_, Variant::single_reduction);
  if (variant_ != Variant::measured || !several || inputs.applied) {
    variant_times_.reset();
    if (variant_ == Variant::measured) return Variant::classic;
    if (variant_ != Variant::automatic || !several) return variant_;
    if (inputs.applied) return Variant::classic;
    if (!share_memory_) share_memory_ = nodes_of_ranks(comm).size() == 1;
    return *share_memory_ ? Variant::classic : Variant::single_reduction;
  }
  const std::pair wanted(host_system_->rows(), jacobi);
  int known = variant_times_ && timed_for_ == wanted ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, comm);
  if (known == 0) {
    solvers::VariantTimes times;
    collectively(comm, [&] { times = solvers::time_vector_work(wanted.first, jacobi); });
    times.sum = solvers::time_of_sum(*host_system_);
    double longest[] = {times.sum, times.classic, times.single_reduction};
    MPI_Allreduce(MPI_IN_PLACE, longest, 3, MPI_DOUBLE, MPI_MAX, comm);
    variant_times_ = {longest[0], longest[1], longest[2]};
    timed_for_ = wanted;
  }
  return solvers::faster_variant(*variant_times_);
}

void KspEngine::weigh_rows(const LoopInputs& inputs, bool renewed) {
  Mat amat = inputs.amat;
  weighed_state_ = state_of(amat);
  const bool on_device = std::exchange(renewed_on_device_, false);
  if (on_device && row_scale_.is_of_jacobi) return;  // D^-1 has the new values
  row_scale_ = {};
  row_sizes_ = inputs.rows != solvers::RowTest::none
                   ? row_sizes_of(amat, operator_.get(), inputs.pmat)
                   : RowSizes();
  if (row_sizes_.differ)
    row_scale_ = {.weighs = true,
                  .values = row_sizes_.inverse,
                  .is_of_jacobi = renewed && row_sizes_.diagonal_is_size && !inputs.applied &&
                                  inverts_the_diagonal(inputs.pc)};
  collectively(comm_of(amat), [&] {
    solver_->weigh_rows(row_scale_);
    if (block_solver_) block_solver_->weigh_rows(row_scale_);
  });
}

// PCApply is called with whatever the PC has become, so that what is here serves as long as the PC
// is the same.
void KspEngine::apply_by_petsc(const LoopInputs& inputs) {
  if (applied_ && applied_->pc() == inputs.pc) return;
  VecHandle made;
  if (!inputs.like) petsc_check(MatCreateVecs(inputs.amat, made.put(), nullptr));
  applied_ = std::make_unique<AppliedPc>(inputs.pc, inputs.like ? inputs.like : Vec(made));
}

void KspEngine::prepare(const LoopInputs& inputs) {
  const Mat amat = inputs.amat, pmat = inputs.pmat;
  const PC pc = inputs.pc;
  const bool applied = inputs.applied;
  GivenPc* const given = given_pc_of(pc);
  if (given) petsc_check(PCSetUp(pc));  // does nothing for a matrix that it has seen
  // It has the values of this moment.
  const std::shared_ptr<Operator> op = applied ? operator_of_host_loop(amat) : operator_of(amat);
  Key key;
  int stale = 0;  // the matrix or its groups may have changed on one rank only
  collectively(comm_of(amat), [&] {
    key = {id_of(amat),
           id_of(pmat),
           id_of(pc),
           state_of(amat),
           state_of(pmat),
           type_of(pc),
           parameter_of(pc),
           applied ? DenseBlocks() : dense_blocks_of(pc, pmat),
           given,
           applied,
           inputs.rows != solvers::RowTest::none};
    stale = !solver_ || key != key_;
  });
  MPI_Allreduce(MPI_IN_PLACE, &stale, 1, MPI_INT, MPI_MAX, comm_of(amat));
  if (!stale) return;

  PetscBool reuse = PETSC_FALSE;
  petsc_check(PCGetReusePreconditioner(pc, &reuse));
  int same = solver_ && op == operator_ && key.same_but_for_values(key_) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_of(amat));
  if (same == 1 && reuse) {
    int unweighed = key.amat_state != weighed_state_ ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &unweighed, 1, MPI_INT, MPI_MAX, comm_of(amat));
    if (unweighed == 1) weigh_rows(inputs, false);
    return;
  }

  auto cuda = applied ? nullptr : std::dynamic_pointer_cast<CudaOperator>(op);
  if (cuda && info_.host_only && !info_.block) refuse_gpu();
  if (same == 0) forget();
  if (applied) apply_by_petsc(inputs);
  const LoopPreconditioner data =
      applied ? applied_preconditioner(*applied_)
              : loop_preconditioner(method_, inputs, key.blocks, cuda.get());
  if (op && op->ordered()) require_free_order(data.spec.kind);
  if (same == 1) {
    set_up(comm_of(amat), data.spec.kind, [&] {
      solver_->renew(data.spec);
      if (block_solver_) block_solver_->renew(data.spec);
    });
    weigh_rows(inputs, true);
    key_ = std::move(key);
    return;
  }
  operator_ = op;
  if (cuda)
    cuda_system_ = make_cuda_system(std::move(cuda), data.spec.kind);
  else
    host_system_ = std::make_unique<MatSystem>(amat, op, inputs.like);
  const solvers::Variant variant =
      host_system_ ? variant_on_host(inputs, data.spec.kind == PreconditionerSpec::Kind::jacobi)
                   : variant_on_device();
  set_up(comm_of(amat), data.spec.kind, [&] {
    if (cuda_system_) {
      auto solver = std::make_unique<solvers::CudaSolver>(
          *cuda_system_, method_, variant, data.spec, solvers::CudaOptions{}, method_options_);
      cuda_solver_ = solver.get();
      solver_ = std::move(solver);
    } else {
      solver_ = std::make_unique<solvers::HostSolver>(*host_system_, method_, variant, data.spec,
                                                      method_options_);
    }
  });
  weigh_rows(inputs, true);
  key_ = std::move(key);
}

bool KspEngine::renew_on_device(PC pc) {
  PetscBool absolute = PETSC_FALSE;
  if (is_diagonal_jacobi(pc)) petsc_check(PCJacobiGetUseAbs(pc, &absolute));
  const bool serves = cuda_solver_ && !block_solver_ && is_diagonal_jacobi(pc) && !absolute;
  int renewed = serves && cuda_solver_->renew_jacobi() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &renewed, 1, MPI_INT, MPI_MIN, comm_of(pc));
  renewed_on_device_ = renewed == 1;
  return renewed_on_device_;
}

void KspEngine::refuse_gpu() const {
  fail(ExitCode::usage, "method {} works on CPUs only; use {}, or device: cpu", info_.name,
       solvers::info_of(method_).name);
}

solvers::BlockSolver& KspEngine::block_solver(const LoopInputs& inputs) {
  prepare(inputs);
  if (block_solver_) return *block_solver_;
  if (cuda_system_ && info_.host_only) refuse_gpu();
  const auto cuda = std::dynamic_pointer_cast<CudaOperator>(operator_);
  const LoopPreconditioner data =
      inputs.applied ? applied_preconditioner(*applied_)
                     : loop_preconditioner(method_, inputs, key_.blocks, cuda.get());
  set_up(comm_of(inputs.amat), data.spec.kind, [&] {
    if (cuda_system_)
      block_solver_ = std::make_unique<solvers::CudaBlockSolver>(
          *cuda_system_, method_, variant_on_device(), data.spec, method_options_);
    else
      block_solver_ = std::make_unique<solvers::HostBlockSolver>(
          *host_system_, method_, solver_->variant(), data.spec,
          info_.block ? solvers::BlockForm::block_cg : solvers::BlockForm::lockstep,
          method_options_);
    block_solver_->weigh_rows(row_scale_);
  });
  return *block_solver_;
}

solvers::SolveResult KspEngine::solve(Vec b_vec, Vec x_vec, bool zero_guess,
                                      const solvers::Tolerances& rule,
                                      const solvers::IterationObserver& observer) {
  PetscInt size = 0;
  petsc_check(VecGetLocalSize(x_vec, &size));
  const auto rows = static_cast<std::size_t>(size);
  if (going_on) {
    zero_guess = false;
    solver_->go_on(*going_on);
    going_on.reset();
  }
  if (device_vectors) {
    const auto& [b, x, producer] = *device_vectors;
    const solvers::SolveResult result =
        cuda_solver_->solve(b, x, zero_guess, producer, rule, observer);
    if (squares_may_have_vanished(result, rule)) {
      set_local_values(b_vec, to_host(b, producer));
      set_local_values(x_vec, to_host(DeviceSpan<const double>(x), producer));
    }
    return result;
  }
  const PetscScalar* b = nullptr;
  PetscScalar* x = nullptr;
  solvers::SolveResult result;
  if (!cuda_solver_) {
    petsc_check(VecGetArrayRead(b_vec, &b));
    petsc_check(VecGetArray(x_vec, &x));
    result = solver_->solve({{b, rows}, {x, rows}, zero_guess}, rule, observer);
    petsc_check(VecRestoreArrayRead(b_vec, &b));
    petsc_check(VecRestoreArray(x_vec, &x));
    return result;
  }
  PetscMemType b_at = PETSC_MEMTYPE_HOST, x_at = PETSC_MEMTYPE_HOST;
  petsc_check(VecGetArrayReadAndMemType(b_vec, &b, &b_at));
  petsc_check(VecGetArrayAndMemType(x_vec, &x, &x_at));
  if (PetscMemTypeDevice(b_at) && PetscMemTypeDevice(x_at))
    result = cuda_solver_->solve(DeviceSpan<const double>(b, rows), DeviceSpan<double>(x, rows),
                                 zero_guess, nullptr, rule, observer);
  else if (PetscMemTypeHost(b_at) && PetscMemTypeHost(x_at))
    result = cuda_solver_->solve({{b, rows}, {x, rows}, zero_guess}, rule, observer);
  else
    fail(ExitCode::usage,
         "the resident engine needs b and x both on the host or both on the device; use the same "
         "Vec type for both");
  petsc_check(VecRestoreArrayReadAndMemType(b_vec, &b));
  petsc_check(VecRestoreArrayAndMemType(x_vec, &x));
  return result;
}

solvers::StoppedSolve KspEngine::stopped() const {
  if (!solver_) fail(ExitCode::internal, "the KSP has not solved, so there is no stopped solve");
  return solver_->stopped();
}

bool KspEngine::mixed() const {
  if (host_system_) return host_system_->inexact() || vectors_in_fp32();
  return cuda_system_ && (cuda_system_->inexact() || vectors_in_fp32()) &&
         cuda_solver_->mode() != solvers::CudaMode::persistent;
}

bool KspEngine::vectors_in_fp32() const { return solver_ && solver_->vectors_in_fp32(); }

const char* KspEngine::executor() const {
  if (!cuda_solver_) return "host";
  switch (cuda_solver_->mode()) {
    case solvers::CudaMode::persistent:
      return kPersistentExecutor;
    case solvers::CudaMode::graph:
      return cuda_system_->recording() != Recording::none ? "cuda graph"
                                                          : "cuda, launched by the host";
    default:
      return "cuda, launched by the host";
  }
}

}  // namespace trireme
