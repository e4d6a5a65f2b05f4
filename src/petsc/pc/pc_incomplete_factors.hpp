// SPDX-License-Identifier: BSD-3-Clause
// The PC types trireme_ilu and trireme_icc: incomplete factors (src/factors) of the rows and
// columns of each rank, for trireme_ilu with those of other ranks around them. The first is for any
// square matrix, the second for a symmetric positive definite one, or minus that.
//
//   PCSetUp   makes the factors, or their numbers anew where the matrix has new values on the same
//             pattern; PCSetReusePreconditioner keeps the old ones
//   PCApply   solves by the factors on the host, under any KSP; trireme_icc also has
//             PCApplyTranspose
//
// The entries come from Pmat: from a shell or a Mat of type trireme without a copy, from AIJ and
// what converts to AIJ by a copy.
//
// Options, with the prefix of the PC:
//   -pc_trireme_ilu_levels <0 to 8>                     of fill
//   -pc_trireme_ilu_overlap <0 to 2>                    layers between ranks; of trireme_ilu
//   -pc_trireme_ilu_order <auto, given, rcm, colours>   in which rows are eliminated
#pragma once

#include <petscksp.h>

#include <span>

#include "factors/operation.hpp"
#include "petsc/pc/given_pc.hpp"
#include "solvers/preconditioners/incomplete_factors.hpp"

namespace trireme {

inline constexpr const char* kTriremeIlu = solvers::Ilu::info.names[0].pc_type.data();
inline constexpr const char* kTriremeIcc = solvers::Icc::info.names[0].pc_type.data();

// The data of a PC of either type; options.definite tells which.
class IncompleteFactorsPc final : public OperationPc<factors::IluOperation, factors::IluOptions> {
 public:
  // Of trireme_icc, whose factors are symmetric.
  void apply_transposed(std::span<const double> r, std::span<double> z) { apply(r, z); }
};

// Registers the types with PETSc.
void register_incomplete_factors();

// Null for a PC of another type.
IncompleteFactorsPc* incomplete_factors_of(PC pc);

}  // namespace trireme
