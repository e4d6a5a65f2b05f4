// SPDX-License-Identifier: BSD-3-Clause
// The PC type trireme_fsai: a factorised sparse approximate inverse (src/inverses) of a symmetric
// positive definite matrix, or of minus one.
//
//   PCSetUp   makes the factor G, or its numbers anew where the matrix has new values on the same
//             pattern; PCSetReusePreconditioner keeps the old ones
//   PCApply   multiplies by G and G^T on the host, under any KSP; so does PCApplyTranspose
//
// The entries come from Pmat: from a shell or a Mat of type trireme without a copy, from AIJ and
// what converts to AIJ by a copy.
//
// Option, with the prefix of the PC:
//   -pc_trireme_fsai_steps <1 to 40>   by which the pattern of a row grows, by 3 entries each
#pragma once

#include <petscksp.h>

#include <span>

#include "inverses/operation.hpp"
#include "petsc/pc/given_pc.hpp"
#include "solvers/preconditioners/fsai.hpp"

namespace trireme {

inline constexpr const char* kTriremeFsai = solvers::Fsai::info.names[0].pc_type.data();

// The data of a PC of the type.
class FsaiPc final : public OperationPc<inverses::FsaiOperation, inverses::FsaiOptions> {
 public:
  // G^T G is symmetric.
  void apply_transposed(std::span<const double> r, std::span<double> z) { apply(r, z); }
};

// Registers the type with PETSc.
void register_fsai();

// Null for a PC of another type.
FsaiPc* fsai_of(PC pc);

}  // namespace trireme
