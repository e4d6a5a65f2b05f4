// SPDX-License-Identifier: BSD-3-Clause
// The functions of the PC types, and the blocks of a block Jacobi PC.
#include "petsc/pc/pc_types.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

bool is_type(PC pc, const char* type) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), type, &same));
  return same == PETSC_TRUE;
}

solvers::PreconditionerInfo info_of(PC pc) {
  PCType type = nullptr;
  petsc_check(PCGetType(pc, &type));
  const auto kind = solvers::kind_of_pc_type(type ? type : "");
  return kind ? solvers::info_of(*kind) : solvers::PreconditionerInfo{};
}

std::int32_t& parameter(PC pc) { return *static_cast<std::int32_t*>(data_of(pc)); }

PetscErrorCode pc_set_from_options(PC pc, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  const solvers::PreconditionerParameter& known = info_of(pc).parameter;
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme preconditioner options");
  if (!known.option.empty()) {
    PetscInt value = parameter(pc);
    PetscCall(PetscOptionsRangeInt(known.option.data(), known.text.data(), "", value, &value,
                                   nullptr, known.min, known.max));
    parameter(pc) = static_cast<std::int32_t>(value);
  }
  PetscOptionsHeadEnd();
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode pc_apply(PC pc, Vec, Vec) {
  PetscFunctionBegin;
  PCType type = nullptr;
  PetscCall(PCGetType(pc, &type));
  SETERRQ(comm_of(pc), PETSC_ERR_SUP,
          "PC %s works only inside Trireme's KSP types, such as -ksp_type trireme_cg", type);
}

PetscErrorCode pc_view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  const solvers::PreconditionerInfo info = info_of(pc);
  if (info.parameter.option.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  dense blocks of the matrix's row groups\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %d %s\n", info.summary.data(),
                                     static_cast<int>(parameter(pc)), info.parameter.text.data()));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode pc_destroy(PC pc) {
  delete &parameter(pc);
  forget_data(pc);
  return kPetscSuccess;
}

PetscErrorCode pc_create(PC pc) {
  install(pc, {pc_set_from_options, pc_apply, pc_view, pc_destroy},
          new std::int32_t(info_of(pc).parameter.initial));
  return kPetscSuccess;
}

}  // namespace

void register_resident_preconditioners() {
  solvers::for_each_preconditioner([](solvers::PreconditionerKind, auto m) {
    const std::string_view type = decltype(m)::type::info.pc_type;
    if (!type.empty()) petsc_check(PCRegister(type.data(), pc_create));
  });
  for (const char* type : {kTriremePbjacobi, kTriremeVpbjacobi})
    petsc_check(PCRegister(type, pc_create));
  register_multigrid();
}

std::string resident_pc_type(std::string_view preconditioner) {
  if (preconditioner == PCPBJACOBI) return kTriremePbjacobi;
  if (preconditioner == PCVPBJACOBI) return kTriremeVpbjacobi;
  return petsc_pc_type(preconditioner);
}

std::string petsc_pc_type(std::string_view preconditioner) {
  return preconditioner == kMultigrid ? kTriremeMultigrid : std::string(preconditioner);
}

std::string preconditioner_name(std::string_view pc_type) {
  for (const std::string_view name :
       {std::string_view(PCPBJACOBI), std::string_view(PCVPBJACOBI), kMultigrid})
    if (pc_type == resident_pc_type(name)) pc_type = name;
  return std::string(pc_type);
}

std::optional<solvers::PreconditionerKind> resident_preconditioner(std::string_view pc_type) {
  using Kind = solvers::PreconditionerKind;
  if (pc_type.empty() || pc_type == PCNONE) return Kind::none;
  if (pc_type == PCJACOBI) return Kind::jacobi;
  if (pc_type == kTriremeMultigrid) return Kind::given;
  for (const char* const blocks : {PCPBJACOBI, PCVPBJACOBI, kTriremePbjacobi, kTriremeVpbjacobi})
    if (pc_type == blocks) return Kind::blocks;
  return solvers::kind_of_pc_type(pc_type);
}

PetscInt parameter_of(PC pc) { return info_of(pc).parameter.option.empty() ? 0 : parameter(pc); }

bool is_diagonal_jacobi(PC pc) {
  if (!is_type(pc, PCJACOBI)) return false;
  PCJacobiType type = PC_JACOBI_DIAGONAL;
  petsc_check(PCJacobiGetType(pc, &type));
  return type == PC_JACOBI_DIAGONAL;
}

DenseBlocks dense_blocks_of(PC pc, Mat pmat) {
  DenseBlocks blocks;
  if (is_type(pc, kTriremeBlockJacobi)) {
    blocks.size = parameter(pc);
  } else if (is_type(pc, kTriremePbjacobi) || is_type(pc, PCPBJACOBI)) {
    PetscInt size = 1;
    petsc_check(MatGetBlockSize(pmat, &size));
    blocks.size = static_cast<std::int32_t>(size);
  } else if (is_type(pc, kTriremeVpbjacobi) || is_type(pc, PCVPBJACOBI)) {
    PetscInt groups = 0, rows = 0;
    const PetscInt* sizes = nullptr;
    petsc_check(MatGetVariableBlockSizes(pmat, &groups, &sizes));
    petsc_check(MatGetLocalSize(pmat, &rows, nullptr));
    if (groups == 0 && rows > 0)
      fail(ExitCode::usage, "vpbjacobi needs row groups: call MatSetVariableBlockSizes");
    blocks.size = 1;
    blocks.group_starts.push_back(0);
    for (PetscInt k = 0; k < groups; ++k) {
      blocks.size = std::max(blocks.size, static_cast<std::int32_t>(sizes[k]));
      blocks.group_starts.push_back(blocks.group_starts.back() +
                                    static_cast<std::int32_t>(sizes[k]));
    }
  }
  return blocks;
}

}  // namespace trireme
