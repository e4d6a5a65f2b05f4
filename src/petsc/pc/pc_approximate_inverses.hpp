// SPDX-License-Identifier: BSD-3-Clause
// The PC types of sparse approximate inverses (src/inverses).
//
//   trireme_fsai   factorised, of a symmetric positive definite matrix, or of minus one: G^T G
//   trireme_spai   of any matrix: M
//
//   PCSetUp            makes G or M, or its numbers anew where the matrix has new values on the
//                      same pattern; PCSetReusePreconditioner keeps the old ones
//   PCApply            multiplies on the host, under any KSP
//   PCApplyTranspose   the same by the transposed, which the first call of trireme_spai makes
//
// The entries come from Pmat: from a shell or a Mat of type trireme without a copy, from AIJ and
// what converts to AIJ by a copy.
//
// Options, with the prefix of the PC:
//   -pc_trireme_fsai_steps <1 to 40>   by which the pattern of a row grows, by 3 entries each
//   -pc_trireme_spai_steps <1 to 40>   the same
#pragma once

#include <petscksp.h>

#include "inverses/operation.hpp"
#include "petsc/pc/given_pc.hpp"
#include "solvers/preconditioners/approximate_inverses.hpp"

namespace trireme {

inline constexpr const char* kTriremeFsai = solvers::Fsai::info.names[0].pc_type.data();
inline constexpr const char* kTriremeSpai = solvers::Spai::info.names[0].pc_type.data();

// The data of PCs of the types.
using FsaiPc = OperationPc<inverses::FsaiOperation, inverses::FsaiOptions>;
using SpaiPc = OperationPc<inverses::SpaiOperation, inverses::SpaiOptions>;

// Registers the types with PETSc.
void register_approximate_inverses();

// Null for a PC of another type.
FsaiPc* fsai_of(PC pc);
SpaiPc* spai_of(PC pc);
GivenPc* approximate_inverse_of(PC pc);

}  // namespace trireme
