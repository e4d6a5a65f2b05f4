// SPDX-License-Identifier: BSD-3-Clause
// The Krylov methods of the resident engine. To add one, write its header and name it here: the
// solvers of the host and of GPUs, the KSP types, `solve` and the tests take it from this list.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "solvers/methods/bicgstab.hpp"
#include "solvers/methods/cg.hpp"
#include "solvers/methods/minres.hpp"
#include "solvers/methods/pipelined_cg.hpp"
#include "solvers/methods/single_reduction_cg.hpp"

namespace trireme::solvers {

enum class Method { cg, bicgstab, minres };

// One text of a method. A method has one entry per variant.
template <Method of, class Text>
struct MethodEntry {
  static constexpr Method method = of;
  using type = Text;
};
using MethodList =
    std::tuple<MethodEntry<Method::cg, Cg>, MethodEntry<Method::cg, SingleReductionCg>,
               MethodEntry<Method::bicgstab, Bicgstab>, MethodEntry<Method::minres, Minres>>;

// The texts that only HostSolver runs: executors of GPUs, and of many right-hand sides, do not have
// sums that run beside a product.
using HostMethodList = std::tuple<MethodEntry<Method::cg, PipelinedCg>>;

// The name of pipelined CG in case files. Its KSP type is trireme_pipelined_cg.
inline constexpr std::string_view kPipelinedCg = "pipelined_cg";

// Calls visit(entry) for every entry of the list.
template <class Visit>
constexpr void for_each_text(Visit&& visit) {
  [&]<class... Entries>(std::type_identity<std::tuple<Entries...>>) {
    (visit(Entries{}), ...);
  }(std::type_identity<MethodList>{});
}

// Calls visit(entry) once for every method, with its classic text.
template <class Visit>
constexpr void for_each_method(Visit&& visit) {
  for_each_text([&](auto entry) {
    if constexpr (decltype(entry)::type::variant == Variant::classic) visit(entry);
  });
}

constexpr bool has_variant(Method method, Variant variant) {
  bool found = false;
  for_each_text([&](auto entry) {
    found |= entry.method == method && decltype(entry)::type::variant == variant;
  });
  return found;
}

// Calls visit(entry) with the text of `method` in `variant`. A method without that variant has its
// classic text.
template <class Visit>
constexpr void visit_method(Method method, Variant variant, Visit&& visit) {
  if (!has_variant(method, variant)) variant = Variant::classic;
  for_each_text([&](auto entry) {
    if (entry.method == method && decltype(entry)::type::variant == variant) visit(entry);
  });
}

// visit_method() with the texts of HostMethodList too.
template <class Visit>
constexpr void visit_method_on_host(Method method, Variant variant, Visit&& visit) {
  if (method == Method::cg && variant == Variant::pipelined)
    visit(std::get<0>(HostMethodList()));
  else
    visit_method(method, variant, visit);
}

constexpr MethodInfo info_of(Method method) {
  MethodInfo info;
  visit_method(method, Variant::classic, [&](auto entry) { info = decltype(entry)::type::info; });
  return info;
}

// The method that has this name in Trireme or in PETSc; none if there is no such method.
constexpr std::optional<Method> method_named(std::string_view name) {
  std::optional<Method> found;
  for_each_method([&](auto entry) {
    const MethodInfo& info = decltype(entry)::type::info;
    if (info.name == name || info.petsc_name == name) found = entry.method;
  });
  if (name == "block_cg" || name == kPipelinedCg) found = Method::cg;  // forms of it
  return found;
}

}  // namespace trireme::solvers
