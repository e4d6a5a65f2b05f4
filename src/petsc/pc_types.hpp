// SPDX-License-Identifier: BSD-3-Clause
// PC types that are parameters only: the resident loop applies them.
//   trireme_block_jacobi  dense diagonal blocks of -pc_trireme_block_size rows (2 to 32; 4)
//   trireme_pbjacobi      as PETSc's PCPBJACOBI: of the block size of Pmat (MatSetBlockSize)
//   trireme_vpbjacobi     as PETSc's PCVPBJACOBI: of Pmat's row groups (MatSetVariableBlockSizes)
//   trireme_chebyshev     Chebyshev polynomial of Jacobi, -pc_trireme_degree products; for CG
// PCPBJACOBI and PCVPBJACOBI themselves serve too; PETSc then inverts the blocks as well, on the
// host, for a PCApply that nobody calls.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trireme {

inline constexpr const char* kTriremeBlockJacobi = "trireme_block_jacobi";
inline constexpr const char* kTriremePbjacobi = "trireme_pbjacobi";
inline constexpr const char* kTriremeVpbjacobi = "trireme_vpbjacobi";
inline constexpr const char* kTriremeChebyshev = "trireme_chebyshev";

void register_resident_preconditioners();

// The type that stands for a preconditioner's name in the resident loop: pbjacobi and vpbjacobi are
// Trireme's, everything else is itself.
std::string resident_pc_type(std::string_view preconditioner);

// Products with A an application of trireme_chebyshev; 0 for another type.
PetscInt degree_of(PC pc);

// The rows of the dense diagonal blocks of a block Jacobi PC, on this rank.
struct DenseBlocks {
  std::int32_t size = 0;                   // of the widest; 0: the PC is none of these types
  std::vector<std::int32_t> group_starts;  // empty: natural blocks
  bool operator==(const DenseBlocks&) const = default;
};
// Throws Error{usage} where Pmat names no row groups.
DenseBlocks dense_blocks_of(PC pc, Mat pmat);

}  // namespace trireme
