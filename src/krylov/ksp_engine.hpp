// SPDX-License-Identifier: BSD-3-Clause
// What a KSP of a resident type keeps: the solver prepared for its matrix and preconditioner.
#pragma once

#include <petscksp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "krylov/ksp_register.hpp"
#include "krylov/mat_system.hpp"
#include "krylov/resident/cuda_solve.hpp"
#include "krylov/resident/solve.hpp"
#include "krylov/resident_pc.hpp"
#include "operators/petsc_shim.hpp"

namespace trireme {

class KspEngine {
 public:
  explicit KspEngine(resident::Method method) : method_(method) {}

  std::function<bool()> stop;  // polled every iteration
  bool options_read = false;
  KspFacts facts;                                  // of the last solve
  std::optional<resident::StoppedSolve> going_on;  // what the next solve goes on from
  const resident::Iterate* iterate = nullptr;      // while a monitor runs
  VecHandle shown;                                 // what KSPBuildSolution handed out

  resident::Method method() const { return method_; }
  resident::Variant variant() const { return variant_; }
  void set_variant(resident::Variant variant);

  // Prepares the solver, unless it is for this matrix and preconditioner already. Throws
  // Error{usage, input} for a preconditioner that cannot be. Collective.
  void prepare(Mat amat, Mat pmat, PC pc);
  // x: the initial guess, and the solution; both vectors where PETSc keeps them, with a PETSc that
  // has CUDA on the device.
  resident::Outcome solve(Vec b, Vec x, bool zero_guess, const resident::Tolerances& rule,
                          const resident::Observer& observer);
  resident::StoppedSolve stopped() const;  // of the last solve
  const char* executor() const;            // "host", "cuda graph", "cuda persistent kernel", ...
  bool mixed() const;                      // the loop's products are inexact
  bool on_device() const { return cuda_solver_ != nullptr; }
  void forget();

 private:
  // What the solver was prepared for.
  struct Key {
    PetscObjectId amat = 0, pmat = 0, pc = 0;
    PetscObjectState amat_state = -1, pmat_state = -1;
    std::string pc_type;
    PetscInt degree = 0;
    DenseBlocks blocks;
    bool operator==(const Key&) const = default;
  };

  resident::Method method_;
  resident::Variant variant_ = resident::Variant::automatic;
  Key key_;
  // One of the two, where the operator is.
  std::unique_ptr<MatSystem> host_system_;
  std::unique_ptr<resident::HostSolver> host_solver_;
  std::unique_ptr<resident::CudaSystem> cuda_system_;
  std::unique_ptr<resident::CudaSolver> cuda_solver_;
};

}  // namespace trireme
