// SPDX-License-Identifier: BSD-3-Clause
// The PC type trireme_mg: one cycle of multigrid by smoothed aggregation.
//
//   PCSetUp   builds the hierarchy, or renews it where the matrix has new values on the same
//             pattern; PCSetReusePreconditioner keeps the old one
//   PCApply   runs one cycle on the host, under any KSP
//   PCApplyTranspose runs the cycle of the transposed matrices there
//   KSP types of Trireme run their own loop and call the cycle from there (solvers/preconditioners/
//   given.hpp). Where that loop runs on one GPU, PCSetUp builds the hierarchy there, and the cycle
//   runs there (multigrid/cuda/device_hierarchy.hpp). Where it runs on several GPUs, the host
//   builds the hierarchy, and the cycle runs on the GPUs (multigrid/cuda/rank_hierarchy.hpp)
//
// A hierarchy on the other side is made when the first cycle is asked for there, such as by a KSP
// of PETSc whose matrix is on a GPU.
//
// The entries come from Pmat: from a shell or a Mat of type trireme without a copy, from AIJ and
// what converts to AIJ by a copy. Its block size (MatSetBlockSize) is the number of unknowns per
// node, and its near null space (MatSetNearNullSpace) is what the coarse levels reproduce.
//
// A PC does not know its KSP, so that the matrix decides about the smoother: where it is not
// symmetric, jacobi takes the place of chebyshev and of block-jacobi, and PCView says so.
//
// Options, with the prefix of the PC; multigrid/options.hpp describes what they set:
//   -pc_trireme_mg_smoother <chebyshev|jacobi|l1-jacobi|block-jacobi>
//   -pc_trireme_mg_degree <1 to 8>            -pc_trireme_mg_cycle <v|w>
//   -pc_trireme_mg_threshold <0 to below 1>   -pc_trireme_mg_precision <double|mixed>
//   -pc_trireme_mg_smoothed <true|false>      -pc_trireme_mg_aggressive_levels <n>
//   -pc_trireme_mg_fill <0 and above>         -pc_trireme_mg_max_levels <n>
//   -pc_trireme_mg_coarsest_rows <n>
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/case.hpp"
#include "distributed/gpu_exchange.hpp"
#include "multigrid/cuda/device_hierarchy.hpp"
#include "multigrid/cuda/rank_hierarchy.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/options.hpp"
#include "multigrid/store/hierarchy_entry.hpp"
#include "petsc/mat/signed_entries.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme {

inline constexpr const char* kTriremeMultigrid = solvers::Given::info.names[0].pc_type.data();

// The data of a PC of the type.
class MultigridPc final : public solvers::GivenPreconditioner {
 public:
  // Where the cycles will be asked for: on GPUs, whose ranks exchange as `exchange` says, or on the
  // host (none). The next set_up() builds for that place.
  void set_place(const std::optional<ExchangeRequest>& exchange);
  // Changes what the next set_up() builds. Where the options differ from those before, the
  // hierarchy is forgotten.
  void set(const multigrid::Options& options);
  // The block size is that of Pmat where it is 1 here.
  const multigrid::Options& options() const { return options_; }

  // Where the first hierarchy of the host may be found, and is kept for later runs. A hierarchy
  // that one GPU builds is in neither.
  void use_store(const multigrid::HierarchyStore& store) { store_ = store; }

  // Builds or renews the hierarchy for the Pmat of `pc`, or does nothing where neither the matrix
  // nor the options have changed. Throws what multigrid::Hierarchy and MatEntries throw, on every
  // rank, and Error{resource} where a GPU has no memory for the hierarchy. Collective.
  void set_up(PC pc);
  // Throws Error{internal} before the first set_up(). Collective.
  void apply(std::span<const double> r, std::span<double> z) override;
  // z = M^-T r, on the host. Likewise.
  void apply_transposed(std::span<const double> r, std::span<double> z);
  // Builds or renews the hierarchy on the current device, where set_up() has not. Throws
  // Error{internal} before the first set_up(). Collective.
  bool prepare_on_device() override;
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override;
  void enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                       const solvers::LoopHints& hints, StreamRef stream) override;
  std::uint64_t device_version() const override { return device_version_; }
  void check_device() const override;
  void forget();
  // The next set_up() finds new aggregates, whatever has changed.
  void forget_levels();

  bool is_set_up() const { return hierarchy_ || on_device_ || on_ranks_; }
  // Of the hierarchy on the GPU where there is one, else of that on the host. None: it is not set
  // up.
  std::optional<multigrid::HierarchyFacts> facts() const;
  // Null: no cycle was asked for on the host.
  const multigrid::Hierarchy* hierarchy() const { return hierarchy_.get(); }
  // Null: no cycle was asked for on one GPU.
  const multigrid::DeviceHierarchy* on_device() const { return on_device_.get(); }
  // Null: no cycle was asked for on the GPUs of several ranks.
  const multigrid::RankHierarchy* on_ranks() const { return on_ranks_.get(); }
  // Whether M^-1 is positive definite and for -A, because the diagonal of A is negative throughout.
  bool negated() const { return entries_.negated(); }
  int builds() const { return builds_; }
  int renewals() const { return renewals_; }

 private:
  void update_on_host();
  void update_on_device();
  void update_on_one_device();
  void update_on_ranks();
  bool on_several_ranks() const;
  multigrid::NearNullspace modes_of_matrix() const;
  void require_set_up() const;

  PC pc_ = nullptr;  // whose data this is; known from the first set_up() on
  bool for_device_ = false;
  ExchangeRequest exchange_;  // of the ranks' GPUs
  multigrid::Options options_;
  multigrid::Options built_;             // of the hierarchies
  std::vector<PetscObjectState> modes_;  // of the near-null space, likewise
  multigrid::HierarchyStore store_;      // null: none
  SignedEntries entries_;
  std::unique_ptr<multigrid::Hierarchy> hierarchy_;
  std::unique_ptr<multigrid::DeviceHierarchy> on_device_;
  std::unique_ptr<multigrid::RankHierarchy> on_ranks_;   // refers to hierarchy_
  std::uint64_t version_ = 0;                            // of the entries that set_up() has taken
  std::uint64_t host_version_ = 0, device_version_ = 0;  // of those in each hierarchy
  int builds_ = 0, renewals_ = 0;
};

// What the case asks for. Smoother auto is Chebyshev with methods for symmetric matrices, and
// Jacobi, which does not need a real spectrum, with other methods.
multigrid::Options multigrid_options(const SolverSpec& spec);

// Whether a PC of the type with these options is expected to find its hierarchy for the matrix in
// the store. Options of PETSc are not read. Collective.
bool expects_to_find_multigrid(const multigrid::HierarchyStore& store, Mat pmat,
                               const multigrid::Options& options);

// Registers the type with PETSc.
void register_multigrid();

// Null for a PC of another type.
MultigridPc* multigrid_of(PC pc);

}  // namespace trireme
