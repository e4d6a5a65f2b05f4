// SPDX-License-Identifier: BSD-3-Clause
// PC types that only hold parameters, because the resident loop applies the preconditioner: those
// of the names in solvers/preconditioners/list.hpp whose type in the resident loop is no type of
// PETSc's loops, such as
//   trireme_chebyshev     Chebyshev polynomial of Jacobi with -pc_trireme_degree products
//   trireme_pbjacobi      like PETSc's PCPBJACOBI: blocks of Pmat's block size (MatSetBlockSize)
//   trireme_vpbjacobi     like PETSc's PCVPBJACOBI: Pmat's row groups (MatSetVariableBlockSizes)
// trireme_mg is a PC of its own (pc_multigrid.hpp), which works under any KSP.
// The resident loop also accepts PCPBJACOBI and PCVPBJACOBI. Then PETSc inverts the blocks on the
// host too, for a PCApply that is never called.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/preconditioners/list.hpp"

namespace trireme {

// Registers the PC types with PETSc.
void register_resident_preconditioners();

// The PC type that the resident loop uses for a preconditioner's name in a case: Trireme's types
// for multigrid, pbjacobi and vpbjacobi, otherwise the name itself.
std::string resident_pc_type(std::string_view preconditioner);
// The same for PETSc's loops: Trireme's type for multigrid, otherwise the name itself.
std::string petsc_pc_type(std::string_view preconditioner);
// What a case calls a PC type: the reverse of resident_pc_type().
std::string preconditioner_name(std::string_view pc_type);
// Whether PCApply serves for a PC of this type, so that PETSc's loops can use it.
bool works_in_petscs_loops(std::string_view pc_type);
// "none, jacobi, ...": the preconditioners of the resident engine, or those of one kind, by their
// names in a case, and in brackets the PC types that PETSc's users give where they have another
// name.
std::string resident_preconditioners(std::optional<solvers::PreconditionerKind> kind = {});

// The preconditioner that the resident loop applies for a PC type of Trireme or of PETSc; no value
// if the loop cannot apply that type. "" and PCNONE are PreconditionerKind::none.
std::optional<solvers::PreconditionerKind> resident_preconditioner(std::string_view pc_type);

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
