// SPDX-License-Identifier: BSD-3-Clause
// The functions of the PC types, and the blocks of a block Jacobi PC.
#include "petsc/pc/pc_types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "petsc/pc/pc_approximate_inverses.hpp"
#include "petsc/pc/pc_incomplete_factors.hpp"
#include "petsc/pc/pc_multigrid.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

bool is_type(PC pc, const char* type) {
  PetscBool same = PETSC_FALSE;
  petsc_check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), type, &same));
  return same == PETSC_TRUE;
}

solvers::PreconditionerParameter parameter_known(PC pc) {
  const auto* const own = preconditioner_of(pc).own();
  return own ? own->parameter() : solvers::PreconditionerParameter{};
}

std::int32_t& parameter(PC pc) { return *static_cast<std::int32_t*>(data_of(pc)); }

PetscErrorCode pc_set_from_options(PC pc, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  const solvers::PreconditionerParameter known = parameter_known(pc);
  PetscOptionsHeadBegin(PetscOptionsObject, "Trireme preconditioner options");
  if (!known.option.empty()) {
    PetscInt value = parameter(pc);
    PetscCall(PetscOptionsRangeInt(known.option.data(), known.meaning.data(), "", value, &value,
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
  const auto* const own = preconditioner_of(pc).own();
  const solvers::PreconditionerParameter known = parameter_known(pc);
  if (!own || known.option.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  dense blocks of the matrix's row groups\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %d %s\n", own->info.summary.data(),
                                     static_cast<int>(parameter(pc)), known.meaning.data()));
  PetscFunctionReturn(kPetscSuccess);
}

PetscErrorCode pc_destroy(PC pc) {
  delete &parameter(pc);
  forget_data(pc);
  return kPetscSuccess;
}

PetscErrorCode pc_create(PC pc) {
  install(pc, {pc_set_from_options, pc_apply, pc_view, pc_destroy},
          new std::int32_t(parameter_known(pc).initial));
  return kPetscSuccess;
}

}  // namespace

void register_resident_preconditioners() {
  solvers::for_each_preconditioner_name(
      [](solvers::PreconditionerKind, const solvers::PreconditionerName& name) {
        if (name.pc_type != name.petsc_type)
          petsc_check(PCRegister(name.pc_type.data(), pc_create));
      });
  register_multigrid();
  register_approximate_inverses();
  register_incomplete_factors();
}

std::string type_of(PC pc) {
  PCType type = nullptr;
  petsc_check(PCGetType(pc, &type));
  return type ? type : "";
}

solvers::AnyPreconditioner preconditioner_of(PC pc) {
  const std::string type = type_of(pc);
  return type.empty() ? solvers::AnyPreconditioner(solvers::PreconditionerKind::none)
                      : solvers::AnyPreconditioner::of_type(type);
}

bool works_in_petscs_loops(PC pc) {
  const auto* const own = preconditioner_of(pc).own();
  return !own || own->name.petsc_type == type_of(pc);
}

std::string resident_preconditioners(std::optional<solvers::PreconditionerKind> kind) {
  std::vector<std::string> names;
  solvers::for_each_preconditioner_name(
      [&](solvers::PreconditionerKind of, const solvers::PreconditionerName& name) {
        if (kind && of != *kind) return;
        const bool alike = name.name == name.pc_type || name.name == name.petsc_type;
        names.push_back(alike ? std::string(name.name)
                              : fmt::format("{} ({})", name.name, name.pc_type));
      });
  return fmt::format("{}", fmt::join(names, ", "));
}

PetscInt parameter_of(PC pc) { return parameter_known(pc).option.empty() ? 0 : parameter(pc); }

bool is_diagonal_jacobi(PC pc) {
  if (!is_type(pc, PCJACOBI)) return false;
  PCJacobiType type = PC_JACOBI_DIAGONAL;
  petsc_check(PCJacobiGetType(pc, &type));
  return type == PC_JACOBI_DIAGONAL;
}

DenseBlocks dense_blocks_of(PC pc, Mat pmat) {
  DenseBlocks blocks;
  const auto* const own = preconditioner_of(pc).own();
  if (!own || own->kind != solvers::PreconditionerKind::blocks) return blocks;
  if (own->name.petsc_type.empty()) {
    blocks.size = parameter(pc);
  } else if (own->name.petsc_type == PCPBJACOBI) {
    PetscInt size = 1;
    petsc_check(MatGetBlockSize(pmat, &size));
    blocks.size = static_cast<std::int32_t>(size);
  } else {
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
