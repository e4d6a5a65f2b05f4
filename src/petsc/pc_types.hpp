// SPDX-License-Identifier: BSD-3-Clause
// PC types that hold parameters only: the resident loop applies them. They come from the list of
// solvers/preconditioners/list.hpp:
//   trireme_block_jacobi  dense diagonal blocks of -pc_trireme_block_size rows (2 to 32; 4)
//   trireme_chebyshev     Chebyshev polynomial of Jacobi, -pc_trireme_degree products; for CG and
//                         MINRES
// and two more names for dense diagonal blocks, by the blocks of the matrix:
//   trireme_pbjacobi      as PETSc's PCPBJACOBI: of the block size of Pmat (MatSetBlockSize)
//   trireme_vpbjacobi     as PETSc's PCVPBJACOBI: of Pmat's row groups (MatSetVariableBlockSizes)
// PCPBJACOBI and PCVPBJACOBI themselves serve too. PETSc then inverts the blocks as well, on the
// host, for a PCApply that nobody calls.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/preconditioners/list.hpp"

namespace trireme {

inline constexpr const char* kTriremeBlockJacobi = "trireme_block_jacobi";
inline constexpr const char* kTriremePbjacobi = "trireme_pbjacobi";
inline constexpr const char* kTriremeVpbjacobi = "trireme_vpbjacobi";
inline constexpr const char* kTriremeChebyshev = "trireme_chebyshev";

void register_resident_preconditioners();

// The type that stands for a preconditioner's name in the resident loop: pbjacobi and vpbjacobi are
// Trireme's, everything else is itself.
std::string resident_pc_type(std::string_view preconditioner);

// What the resident loop applies for a PC type of ours or of PETSc; none where it has nothing for
// it. "" is none, as PCNONE.
std::optional<solvers::PreconditionerKind> resident_preconditioner(std::string_view pc_type);

// The integer that a PC of ours has as its option; 0 for another type.
PetscInt parameter_of(PC pc);

// The rows of the dense diagonal blocks of a block Jacobi PC, on this rank.
struct DenseBlocks {
  std::int32_t size = 0;                   // of the widest; 0: the PC is none of these types
  std::vector<std::int32_t> group_starts;  // empty: natural blocks
  bool operator==(const DenseBlocks&) const = default;
};
// Throws Error{usage} where Pmat names no row groups.
DenseBlocks dense_blocks_of(PC pc, Mat pmat);

}  // namespace trireme
