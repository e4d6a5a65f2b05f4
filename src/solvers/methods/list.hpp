// SPDX-License-Identifier: BSD-3-Clause
// The Krylov methods of the resident engine. To add one, write its header and name it here: the
// solvers of the host and of GPUs, the KSP types, `solve` and the tests take it from this list.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "solvers/methods/bicgstab.hpp"
#include "solvers/methods/bicgstab2.hpp"
#include "solvers/methods/block_cg.hpp"
#include "solvers/methods/cg.hpp"
#include "solvers/methods/gmres.hpp"
#include "solvers/methods/minres.hpp"
#include "solvers/methods/pipelined_cg.hpp"
#include "solvers/methods/single_reduction_cg.hpp"

namespace trireme::solvers {

enum class Method { cg, bicgstab, bicgstab2, gmres, minres };

// One algorithm of a method. A method has one entry per variant.
template <Method of, class Algorithm>
struct MethodEntry {
  static constexpr Method method = of;
  using type = Algorithm;
};
using MethodList =
    std::tuple<MethodEntry<Method::cg, Cg>, MethodEntry<Method::cg, SingleReductionCg>,
               MethodEntry<Method::bicgstab, Bicgstab>, MethodEntry<Method::bicgstab2, Bicgstab2>,
               MethodEntry<Method::gmres, Gmres>, MethodEntry<Method::minres, Minres>>;

// Forms of a method with a name of their own. The algorithms that only HostSolver runs: executors
// of GPUs, and of many right-hand sides, do not have sums that run beside a product.
using HostMethodList = std::tuple<MethodEntry<Method::cg, PipelinedCg>>;
// The algorithms that only HostBlockSolver runs, for all columns of a block together.
using BlockMethodList = std::tuple<MethodEntry<Method::cg, BlockCg>>;

template <class List, class Visit>
constexpr void for_each_entry(Visit&& visit) {
  [&]<class... Entries>(std::type_identity<std::tuple<Entries...>>) {
    (visit(Entries{}), ...);
  }(std::type_identity<List>{});
}

// Calls visit(entry) for every entry of the list.
template <class Visit>
constexpr void for_each_algorithm(Visit&& visit) {
  for_each_entry<MethodList>(visit);
}

// Calls visit(entry) once for every name that a method has in a case, with the classic algorithm of
// a method, or with the algorithm of a form.
template <class Visit>
constexpr void for_each_method(Visit&& visit) {
  for_each_algorithm([&](auto entry) {
    if constexpr (decltype(entry)::type::variant == Variant::classic) visit(entry);
  });
  for_each_entry<BlockMethodList>(visit);
  for_each_entry<HostMethodList>(visit);
}

template <class List = MethodList>
constexpr bool has_variant(Method method, Variant variant) {
  bool found = false;
  for_each_entry<List>([&](auto entry) {
    found |= entry.method == method && decltype(entry)::type::variant == variant;
  });
  return found;
}

// Calls visit(entry) with the algorithm of `method` in `variant`. A method without that variant has
// its classic algorithm.
template <class Visit>
constexpr void visit_method(Method method, Variant variant, Visit&& visit) {
  if (!has_variant(method, variant)) variant = Variant::classic;
  for_each_algorithm([&](auto entry) {
    if (entry.method == method && decltype(entry)::type::variant == variant) visit(entry);
  });
}

// visit_method() with the algorithms of HostMethodList too.
template <class Visit>
constexpr void visit_method_on_host(Method method, Variant variant, Visit&& visit) {
  if (!has_variant<HostMethodList>(method, variant)) return visit_method(method, variant, visit);
  for_each_entry<HostMethodList>([&](auto entry) {
    if (entry.method == method && decltype(entry)::type::variant == variant) visit(entry);
  });
}

constexpr MethodInfo info_of(Method method) {
  MethodInfo info;
  visit_method(method, Variant::classic, [&](auto entry) { info = decltype(entry)::type::info; });
  return info;
}

// "cg, minres": the names of the methods for whose info `wanted` is true.
template <class Wanted>
std::string method_names(const Wanted& wanted) {
  std::string names;
  for_each_method([&](auto entry) {
    const MethodInfo& info = decltype(entry)::type::info;
    if (wanted(info)) names += (names.empty() ? "" : ", ") + std::string(info.name);
  });
  return names;
}
inline std::string symmetric_methods() {
  return method_names([](const MethodInfo& info) { return info.symmetric; });
}

inline std::string nonsymmetric_methods() {
  return method_names([](const MethodInfo& info) { return !info.symmetric; });
}

// What a name in a case stands for.
struct NamedMethod {
  MethodInfo info{};
  Method method{};
  Variant variant{};  // automatic: the solver chooses one
  // The most work vectors per column that any algorithm which runs under the name takes, and the
  // same with a pointwise preconditioner; MethodOptions::restart more where it `restarts`.
  int vectors = 0, pointwise_vectors = 0;
  // The same where vectors are in FP32; of an algorithm without such a form, those above.
  int vectors_in_fp32 = 0, pointwise_vectors_in_fp32 = 0;
};

template <class Entry>
constexpr NamedMethod named_method(Entry entry) {
  using Algorithm = typename Entry::type;
  constexpr bool chooses = Algorithm::variant == Variant::classic;
  NamedMethod named{.info = Algorithm::info,
                    .method = entry.method,
                    .variant = chooses ? Variant::automatic : Algorithm::variant};
  const auto take = [&]<class Taken>(std::type_identity<Taken>) {
    if constexpr (Taken::info.block)
      named.vectors = std::max(named.vectors, Taken::vectors + Taken::basis_vectors);
    else {
      named.vectors = std::max(named.vectors, Taken::vectors);
      named.pointwise_vectors = std::max(named.pointwise_vectors, Taken::pointwise_vectors);
      const auto in_fp32 = [](bool pointwise) {
        return work_vectors<Taken>({.restart = 0}, {.pointwise = pointwise, .floats = true});
      };
      named.vectors_in_fp32 = std::max(named.vectors_in_fp32, in_fp32(false));
      named.pointwise_vectors_in_fp32 = std::max(named.pointwise_vectors_in_fp32, in_fp32(true));
    }
  };
  take(std::type_identity<Algorithm>{});
  if (chooses)
    for_each_algorithm([&](auto of) {
      if (of.method == entry.method) take(std::type_identity<typename decltype(of)::type>{});
    });
  return named;
}

// The method that has this name in Trireme or in PETSc; none if there is no such method.
constexpr std::optional<NamedMethod> method_named(std::string_view name) {
  std::optional<NamedMethod> found;
  for_each_method([&](auto entry) {
    const MethodInfo& info = decltype(entry)::type::info;
    const bool in_petsc = !info.resident_only && info.petsc_name == name;
    if (info.name == name || in_petsc) found = named_method(entry);
  });
  return found;
}

}  // namespace trireme::solvers
