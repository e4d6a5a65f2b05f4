// SPDX-License-Identifier: BSD-3-Clause
// The data of a KSP of a resident type: the solver that is prepared for its matrix and
// preconditioner.
#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "distributed/row_sizes.hpp"
#include "petsc/ksp/applied_pc.hpp"
#include "petsc/ksp/borrowed_loop.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/mat/mat_system.hpp"
#include "petsc/pc/pc_types.hpp"
#include "petsc/shim.hpp"
#include "solvers/block_solver.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/host_solver.hpp"
#include "solvers/variant_choice.hpp"

namespace trireme {

// What a loop is prepared for.
struct LoopInputs {
  Mat amat, pmat;
  PC pc;
  solvers::RowTest rows;
  // The PC is applied by PCApply, and the loop runs on the host.
  bool applied = false;
  // A vector of the program, for what PETSc is handed in the loop; null: what MatCreateVecs makes.
  Vec like = nullptr;
};

class KspEngine {
 public:
  explicit KspEngine(const solvers::NamedMethod& named)
      : info_(named.info), method_(named.method), variant_(named.variant) {}

  std::function<bool()> stop;                     // polled in every iteration
  bool options_read = false;                      // KSPSetFromOptions was called
  KspFacts facts;                                 // of the last solve
  std::optional<solvers::StoppedSolve> going_on;  // the next solve goes on from it
  const solvers::Iterate* iterate = nullptr;      // while a monitor runs
  VecHandle shown;                                // the Vec that KSPBuildSolution returned
  std::optional<DeviceVectors> device_vectors;    // see ksp_use_device_vectors()
  // What the unpreconditioned norm is made of; none: as PETSc's options say.
  std::optional<solvers::RowTest> row_test;
  bool drops_worse_guess = false;  // see ksp_drop_worse_guesses()
  bool ignores_guess = false;      // see ksp_ignore_guess()
  bool in_block = false;  // a loop for many right-hand sides runs, and no Vec has its iterates
  BorrowedLoop borrowed;  // of the last solve, where it was PETSc's own loop

  solvers::Method method() const { return method_; }
  const solvers::MethodInfo& info() const { return info_; }
  solvers::Variant variant() const { return variant_; }
  // The times that decided between the variants of CG for the prepared solver; none: the variant
  // was not chosen by measurement.
  const std::optional<solvers::VariantTimes>& variant_times() const { return variant_times_; }
  // Drops the prepared solver if the variant changes.
  void set_variant(solvers::Variant variant);
  const solvers::MethodOptions& method_options() const { return method_options_; }
  // Drops the prepared solver if the options change.
  void set_method_options(const solvers::MethodOptions& options);

  // Prepares the solver, unless it is already prepared for this matrix and preconditioner. Where
  // only values have changed, the solver stays and its preconditioner is renewed; it keeps the old
  // one where PCSetReusePreconditioner says so. Throws Error{usage} or Error{input} for a
  // preconditioner that the resident engine cannot apply. Collective.
  void prepare(const LoopInputs& inputs);
  // Solves by the prepared solver. x holds the initial guess and becomes the solution. With a PETSc
  // that has CUDA, b and x may be on the device. Throws Error{usage} if only one of them is there.
  // Collective.
  solvers::SolveResult solve(Vec b, Vec x, bool zero_guess, const solvers::Tolerances& rule,
                             const solvers::IterationObserver& observer);
  // Gives the new values of the matrix to a preconditioner whose data the GPU can make by itself,
  // which is PETSc's Jacobi. Comes before a prepare() with PCSetReusePreconditioner. False:
  // prepare() without that must do it. Collective.
  bool renew_on_device(PC pc);
  // Prepares as prepare() does, and returns the solver for many right-hand sides, which is made
  // when it is asked for the first time and stays as long as the solver for one. Throws
  // Error{usage} for block CG on a GPU, and what the constructors of HostBlockSolver and
  // CudaBlockSolver throw. Collective.
  solvers::BlockSolver& block_solver(const LoopInputs& inputs);
  solvers::StoppedSolve stopped() const;  // of the last solve
  const char* executor() const;           // "host", "cuda graph", "cuda persistent kernel", ...
  bool mixed() const;                     // whether the loop's products are inexact
  bool vectors_in_fp32() const;           // until a loop goes on in FP64
  bool on_device() const { return cuda_solver_ != nullptr; }
  // Whether the loop that is prepared calls PCApply.
  bool applies_pc() const { return applied_ != nullptr; }
  // Whether the loop runs on the host in an order of rows that is not the caller's.
  bool in_order() const { return host_system_ && host_system_->in_order(); }
  // Drops the prepared solver.
  void forget();

 private:
  // The matrix and the preconditioner that the solver was prepared for.
  struct Key {
    PetscObjectId amat = 0, pmat = 0, pc = 0;
    PetscObjectState amat_state = -1, pmat_state = -1;
    std::string pc_type;
    PetscInt parameter = 0;
    DenseBlocks blocks;
    const void* given = nullptr;  // the data of a PC that the loop calls
    bool applied = false;
    bool tests_rows = false;
    bool operator==(const Key&) const = default;
    bool same_but_for_values(const Key& other) const;
  };

  // The variant for a solver on the host. On several ranks, `automatic` is classic where all ranks
  // share memory, whose sums are cheap, and else single_reduction; with `measured`, all ranks take
  // the faster one by timings. Collective.
  solvers::Variant variant_on_host(const LoopInputs& inputs, bool jacobi);
  solvers::Variant variant_on_device() const {
    return variant_ == solvers::Variant::measured ? solvers::Variant::automatic : variant_;
  }

  // Gives the sizes of the rows of the present values to the solvers. `renewed`: the preconditioner
  // is of these values too. Collective.
  void weigh_rows(const LoopInputs& inputs, bool renewed);
  void apply_by_petsc(const LoopInputs& inputs);

  // Throws Error{usage}: the method has no text for GPUs.
  [[noreturn]] void refuse_gpu() const;

  solvers::MethodInfo info_;  // of the name that was asked for
  solvers::Method method_;
  solvers::Variant variant_;
  solvers::MethodOptions method_options_;
  std::optional<bool> share_memory_;  // whether all ranks do
  std::optional<solvers::VariantTimes> variant_times_;
  std::pair<std::int64_t, bool> timed_for_;  // rows and jacobi of variant_times_
  Key key_;
  std::shared_ptr<Operator> operator_;  // of the system; null: the Mat is not one of Trireme
  std::unique_ptr<AppliedPc> applied_;  // null: PCApply does not serve
  // One of the two systems is set, depending on where the operator is, and solver_ is for it.
  std::unique_ptr<MatSystem> host_system_;
  std::unique_ptr<solvers::CudaSystem> cuda_system_;
  std::unique_ptr<solvers::Solver> solver_;
  solvers::CudaSolver* cuda_solver_ = nullptr;          // solver_ if it is on a GPU, else null
  std::unique_ptr<solvers::BlockSolver> block_solver_;  // null until it is asked for
  RowSizes row_sizes_;
  solvers::RowScale row_scale_;          // refers to row_sizes_
  PetscObjectState weighed_state_ = -1;  // of amat
  bool renewed_on_device_ = false;       // since then
};

// The data of a KSP of a resident type.
KspEngine& engine_of(KSP ksp);

}  // namespace trireme
