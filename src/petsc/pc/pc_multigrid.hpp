// SPDX-License-Identifier: BSD-3-Clause
// The PC type trireme_mg: one cycle of multigrid by smoothed aggregation.
//
//   PCSetUp   builds the hierarchy, or renews it where the matrix has new values on the same
//             pattern; PCSetReusePreconditioner keeps the old one
//   PCApply   runs one cycle on the host, under any KSP
//   PCApplyTranspose runs the cycle of the transposed matrices there
//   KSP types of Trireme run their own loop and call the cycle from there (solvers/preconditioners/
//   given.hpp). Where that loop runs on GPUs, the cycle runs there, and PCSetUp makes the hierarchy
//   that it needs (multigrid/operation.hpp)
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

#include <optional>
#include <vector>

#include "config/case.hpp"
#include "multigrid/operation.hpp"
#include "multigrid/options.hpp"
#include "multigrid/store/hierarchy_entry.hpp"
#include "petsc/mat/signed_entries.hpp"
#include "petsc/pc/given_pc.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme {

inline constexpr const char* kTriremeMultigrid = solvers::Given::info.names[0].pc_type.data();

// The data of a PC of the type.
class MultigridPc final : public multigrid::MultigridOperation, public GivenPc {
 public:
  solvers::GivenPreconditioner& operation() override { return *this; }
  void place(const std::optional<ExchangeRequest>& exchange) override { set_place(exchange); }
  // Changes what the next set_up() builds. Where the options differ from those before, the
  // hierarchy is forgotten.
  void set(const multigrid::Options& options);
  // The block size is that of Pmat where it is 1 here.
  const multigrid::Options& options() const { return options_; }

  // Builds or renews the hierarchy for the Pmat of `pc`, or does nothing where neither the matrix
  // nor the options have changed. Throws what MultigridOperation and MatEntries throw, on every
  // rank. Collective.
  void set_up(PC pc) override;
  void forget_patterns() override { forget_levels(); }
  // The next set_up() takes the entries anew, too.
  void forget();
  // Whether M^-1 is positive definite and for -A, because the diagonal of A is negative throughout.
  bool negated() const { return entries_.negated(); }

 private:
  multigrid::Options options_;
  std::vector<PetscObjectState> mode_states_;  // of the near-null space of the hierarchies
  SignedEntries entries_;
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
