// SPDX-License-Identifier: BSD-3-Clause
// What a KSP of a resident type keeps: the solver prepared for its matrix and preconditioner.
#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "petsc/ksp_types.hpp"
#include "petsc/mat_system.hpp"
#include "petsc/pc_types.hpp"
#include "petsc/shim.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/host_solver.hpp"

namespace trireme {

class KspEngine {
 public:
  explicit KspEngine(solvers::Method method) : method_(method) {}

  std::function<bool()> stop;  // polled every iteration
  bool options_read = false;
  KspFacts facts;                                 // of the last solve
  std::optional<solvers::StoppedSolve> going_on;  // what the next solve goes on from
  const solvers::Iterate* iterate = nullptr;      // while a monitor runs
  VecHandle shown;                                // what KSPBuildSolution handed out

  solvers::Method method() const { return method_; }
  solvers::Variant variant() const { return variant_; }
  void set_variant(solvers::Variant variant);

  // Prepares the solver, unless it is for this matrix and preconditioner already. Throws
  // Error{usage, input} for a preconditioner that cannot be. Collective.
  void prepare(Mat amat, Mat pmat, PC pc);
  // x: the initial guess, and the solution; both vectors where PETSc keeps them, with a PETSc that
  // has CUDA on the device.
  solvers::SolveResult solve(Vec b, Vec x, bool zero_guess, const solvers::Tolerances& rule,
                             const solvers::IterationObserver& observer);
  solvers::StoppedSolve stopped() const;  // of the last solve
  const char* executor() const;           // "host", "cuda graph", "cuda persistent kernel", ...
  bool mixed() const;                     // the loop's products are inexact
  bool on_device() const { return cuda_solver_ != nullptr; }
  void forget();

 private:
  // What the solver was prepared for.
  struct Key {
    PetscObjectId amat = 0, pmat = 0, pc = 0;
    PetscObjectState amat_state = -1, pmat_state = -1;
    std::string pc_type;
    PetscInt parameter = 0;
    DenseBlocks blocks;
    bool operator==(const Key&) const = default;
  };

  solvers::Method method_;
  solvers::Variant variant_ = solvers::Variant::automatic;
  Key key_;
  // One of the two systems, where the operator is, and its solver.
  std::unique_ptr<MatSystem> host_system_;
  std::unique_ptr<solvers::CudaSystem> cuda_system_;
  std::unique_ptr<solvers::Solver> solver_;
  solvers::CudaSolver* cuda_solver_ = nullptr;  // the solver, where it is on a GPU
};

}  // namespace trireme
