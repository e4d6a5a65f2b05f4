// SPDX-License-Identifier: BSD-3-Clause
// PC trireme_block_jacobi and trireme_chebyshev: parameters that the resident loop applies.
#pragma once

#include <petscksp.h>

namespace trireme {

inline constexpr const char* kTriremeBlockJacobi = "trireme_block_jacobi";
inline constexpr const char* kTriremeChebyshev = "trireme_chebyshev";

void register_resident_preconditioners();

bool is_type(PC pc, const char* type);

// Rows of a dense diagonal block (-pc_trireme_block_size), or products with A an application
// (-pc_trireme_degree), of a PC of these types.
PetscInt block_size_of(PC pc);
PetscInt degree_of(PC pc);

}  // namespace trireme
