// SPDX-License-Identifier: BSD-3-Clause
// The PC type trireme_mg: one cycle of multigrid by smoothed aggregation.
//
//   PCSetUp   builds the hierarchy, or renews it where the matrix has new values on the same pattern;
//             PCSetReusePreconditioner keeps the old one
//   PCApply   runs one cycle, under any KSP
//   KSP types of Trireme run their own loop and call the cycle from there (solvers/preconditioners/
//   given.hpp); on one GPU, the loop and the cycle run there (multigrid/cuda/cuda_hierarchy.hpp)
//
// The entries come from Pmat: from a shell or a Mat of type trireme without a copy, from AIJ and what
// converts to AIJ by a copy. Its block size (MatSetBlockSize) is the number of unknowns per node, and
// its near null space (MatSetNearNullSpace) is what the coarse levels reproduce.
//
// A PC does not know its KSP, so that the matrix decides about the smoother: where it is not symmetric,
// jacobi takes the place of chebyshev and of block-jacobi, and PCView says so.
//
// Options, with the prefix of the PC; multigrid/options.hpp describes what they set:
//   -pc_trireme_mg_smoother <chebyshev|jacobi|l1-jacobi|block-jacobi>
//   -pc_trireme_mg_degree <1 to 8>            -pc_trireme_mg_cycle <v|w>
//   -pc_trireme_mg_threshold <0 to below 1>   -pc_trireme_mg_precision <double|mixed>
//   -pc_trireme_mg_smoothed <true|false>      -pc_trireme_mg_aggressive_levels <n>
//   -pc_trireme_mg_max_levels <n>             -pc_trireme_mg_coarsest_rows <n>
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <memory>
#include <span>

#include "config/case.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/options.hpp"
#include "petsc/mat_entries.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme {

inline constexpr const char* kTriremeMultigrid = "trireme_mg";

// The data of a PC of the type.
class MultigridPc final : public solvers::GivenPreconditioner {
 public:
  // Changes what the next set_up() builds. Where the options differ from those before, the hierarchy
  // is forgotten.
  void set(const multigrid::Options& options);
  // The block size is that of Pmat where it is 1 here.
  const multigrid::Options& options() const { return options_; }

  // Builds or renews the hierarchy for the Pmat of `pc`, or does nothing where neither the matrix nor
  // the options have changed. Throws what multigrid::Hierarchy and MatEntries throw, on every rank.
  // Collective.
  void set_up(PC pc);
  // Throws Error{internal} before the first set_up(). Collective.
  void apply(std::span<const double> r, std::span<double> z) override;
  // Copies the hierarchy to the current device where that has not its present numbers. False on
  // several ranks. Throws Error{internal} before the first set_up().
  bool prepare_on_device() override;
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override;
  std::uint64_t device_version() const override { return device_version_; }
  void forget();
  // The next set_up() finds new aggregates, whatever has changed.
  void forget_levels() { hierarchy_.reset(); }

  const multigrid::Hierarchy* hierarchy() const { return hierarchy_.get(); }  // null: not set up
  // Null: no solver on a GPU has asked for it.
  const multigrid::CudaHierarchy* on_device() const { return on_device_.get(); }
  int builds() const { return builds_; }
  int renewals() const { return renewals_; }

 private:
  multigrid::Options options_;
  multigrid::Options built_;  // with which hierarchy_ was built
  PetscObjectId modes_ = 0;   // of the near-null space with which hierarchy_ was built
  MatEntries entries_;
  std::unique_ptr<multigrid::Hierarchy> hierarchy_;
  std::unique_ptr<multigrid::CudaHierarchy> on_device_;
  std::uint64_t version_ = 0;         // of the numbers of hierarchy_
  std::uint64_t device_version_ = 0;  // of those of on_device_
  int builds_ = 0, renewals_ = 0;
};

// What the case asks for. Smoother auto is Chebyshev with cg, block_cg and minres, and Jacobi, which
// does not need a real spectrum, with other methods.
multigrid::Options multigrid_options(const SolverSpec& spec);

// Registers the type with PETSc.
void register_multigrid();

// Null for a PC of another type.
MultigridPc* multigrid_of(PC pc);

}  // namespace trireme
