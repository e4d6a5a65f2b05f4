// SPDX-License-Identifier: BSD-3-Clause
// A preconditioner that a case, an option or a PC names: one of the list, or a PC type of PETSc's
// that the list lacks.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "solvers/preconditioners/list.hpp"

namespace trireme::solvers {

// A preconditioner of the list by one of its names.
struct NamedPreconditioner {
  PreconditionerKind kind{};
  PreconditionerName name;
  PreconditionerInfo info{};

  // The option of a PC of this name. Names that PETSc's loops have too take their data from the
  // matrix.
  constexpr PreconditionerParameter parameter() const {
    return name.petsc_type.empty() ? info.parameter : PreconditionerParameter{};
  }
};

inline constexpr auto kNamedPreconditioners = [] {
  constexpr std::size_t count = [] {
    std::size_t names = 0;
    for_each_preconditioner_name([&](PreconditionerKind, const PreconditionerName&) { ++names; });
    return names;
  }();
  std::array<NamedPreconditioner, count> all{};
  std::size_t k = 0;
  for_each_preconditioner_name([&](PreconditionerKind kind, const PreconditionerName& name) {
    all[k++] = {kind, name, info_of(kind)};
  });
  return all;
}();

// What a name of a case or a PC type stands for; null where the list has no such word.
constexpr const NamedPreconditioner* preconditioner_named(std::string_view word) {
  for (const NamedPreconditioner& named : kNamedPreconditioners)
    if (word == named.name.name || word == named.name.pc_type ||
        (!word.empty() && word == named.name.petsc_type))
      return &named;
  return nullptr;
}

// What a PC type stands for; null where the list has no such type.
constexpr const NamedPreconditioner* preconditioner_of_type(std::string_view pc_type) {
  for (const NamedPreconditioner& named : kNamedPreconditioners)
    if (!pc_type.empty() && (pc_type == named.name.pc_type || pc_type == named.name.petsc_type))
      return &named;
  return nullptr;
}

// A word becomes one of these where it comes in, and again a word in messages and in the calls of
// PETSc: no name of a preconditioner travels as a string.
class AnyPreconditioner {
 public:
  // A name of a case, or a PC type. A word that the list lacks is taken for a type of PETSc's.
  explicit AnyPreconditioner(std::string_view word)
      : AnyPreconditioner(preconditioner_named(word), word) {}
  // A PC type: "ilu" is that of PETSc's, where a case means Trireme's.
  static AnyPreconditioner of_type(std::string_view pc_type) {
    return {preconditioner_of_type(pc_type), pc_type};
  }
  // One of the list by its own name.
  explicit AnyPreconditioner(PreconditionerKind kind) : AnyPreconditioner(name_of(kind)) {}
  // Smoothed aggregation, which a loop is given as an operation.
  static AnyPreconditioner multigrid() { return AnyPreconditioner(PreconditionerKind::given); }

  // Its entry in the list; null where it is a type of PETSc's.
  const NamedPreconditioner* own() const {
    const auto* const named = std::get_if<const NamedPreconditioner*>(&which_);
    return named ? *named : nullptr;
  }
  bool is(PreconditionerKind kind) const { return own() && own()->kind == kind; }
  // Whether a loop is given it as an operation, which src/multigrid or src/inverses makes.
  bool is_given() const { return own() && own()->info.data == PreconditionerData::operation; }
  bool is_multigrid() const { return is(PreconditionerKind::given); }

  // What cases and messages call it.
  std::string name() const { return own() ? std::string(own()->name.name) : petscs(); }
  // The PC type in the resident loop, and in PETSc's loops.
  std::string resident_type() const { return own() ? std::string(own()->name.pc_type) : petscs(); }
  std::string petsc_type() const {
    if (!own()) return petscs();
    return std::string(works_in_petscs_loops() ? own()->name.petsc_type : own()->name.pc_type);
  }
  bool works_in_petscs_loops() const { return !own() || !own()->name.petsc_type.empty(); }

  bool operator==(const AnyPreconditioner&) const = default;

 private:
  AnyPreconditioner(const NamedPreconditioner* named, std::string_view word) {
    if (named)
      which_ = named;
    else
      which_ = std::string(word);
  }
  const std::string& petscs() const { return std::get<std::string>(which_); }

  std::variant<const NamedPreconditioner*, std::string> which_;
};

}  // namespace trireme::solvers
