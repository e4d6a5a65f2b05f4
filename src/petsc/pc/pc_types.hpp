// SPDX-License-Identifier: BSD-3-Clause
// PC types that only hold parameters, because the resident loop applies the preconditioner: those
// of the names in solvers/preconditioners/list.hpp whose type in the resident loop is no type of
// PETSc's loops, such as
//   trireme_chebyshev     Chebyshev polynomial of Jacobi with -pc_trireme_degree products
//   trireme_pbjacobi      like PETSc's PCPBJACOBI: blocks of Pmat's block size (MatSetBlockSize)
//   trireme_vpbjacobi     like PETSc's PCVPBJACOBI: Pmat's row groups (MatSetVariableBlockSizes)
// trireme_mg, trireme_fsai, trireme_spai, trireme_ilu and trireme_icc are PCs of their own
// (given_pc.hpp), which work under any KSP.
// The resident loop also accepts PCPBJACOBI and PCVPBJACOBI. Then PETSc inverts the blocks on the
// host too, for a PCApply that is never called.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "solvers/preconditioners/any_preconditioner.hpp"

namespace trireme {

// Registers the PC types with PETSc.
void register_resident_preconditioners();

std::string type_of(PC pc);  // empty: none is set
// By the type of the PC; none where no type is set.
solvers::AnyPreconditioner preconditioner_of(PC pc);
// Whether PCApply serves for the PC, so that PETSc's loops can use it.
bool works_in_petscs_loops(PC pc);
// "none, jacobi, ...": the preconditioners of the resident engine, or those of one kind, by their
// names in a case, and in brackets the PC types that PETSc's users give where they have another
// name.
std::string resident_preconditioners(std::optional<solvers::PreconditionerKind> kind = {});

// The integer option of a PC of Trireme's types; 0 for a type without one.
PetscInt parameter_of(PC pc);

// Whether a PC is PETSc's Jacobi with the diagonal itself, in place of the largest entries or the
// sums of the rows.
bool is_diagonal_jacobi(PC pc);

// The dense diagonal blocks of a block Jacobi PC, on this rank.
struct DenseBlocks {
  std::int32_t size = 0;                   // rows of the widest block; 0: the PC has no such blocks
  std::vector<std::int32_t> group_starts;  // empty: natural blocks
  bool operator==(const DenseBlocks&) const = default;
};
// The blocks of `pc`. Throws Error{usage} if the type needs row groups and Pmat has none.
DenseBlocks dense_blocks_of(PC pc, Mat pmat);

}  // namespace trireme
