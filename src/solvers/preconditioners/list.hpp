// SPDX-License-Identifier: BSD-3-Clause
// The preconditioners of the resident engine. To add one, write its header and name it here: the
// solvers of the host and of GPUs, the PC types and the tests take it from this list.
//
// A preconditioner is a struct of plain data that a kernel may take by value:
//   info                     the names and the facts of the preconditioner (spec.hpp)
//   pointwise                true: the struct has only inverse_diagonal, which methods apply in
//                            their passes; false: apply(e, r, z), an algorithm for an executor,
//                            computes z = M^-1 r, for vectors in FP64 or FP32
//   takes_floats             whether it serves loops with FP32 vectors: Jacobi::in_fp32, or apply()
//                            as a template over the type of r and z
//   Prepared                 the type that prepare() returns
//   work_vectors             the number of work vectors that apply() needs
//   with(work)               only where work_vectors > 0: a copy whose work vector k is work(k)
//   prepare(setup, spec)     the set-up. `setup` says whether the loop runs on the host (on_host),
//                            and offers rows(), keep_rows(values) and keep(array),
//                            which bring arrays to where the loop runs,
//                            inverse_diagonal(place, magnitudes), which takes D^-1 from the system,
//                            preconditioner_vector(k), invert_blocks(blocks, spec) and
//                            bounds_by_cg(jacobi, spec)
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>

#include "solvers/preconditioners/approximate_inverses.hpp"
#include "solvers/preconditioners/block_jacobi.hpp"
#include "solvers/preconditioners/chebyshev.hpp"
#include "solvers/preconditioners/given.hpp"
#include "solvers/preconditioners/incomplete_factors.hpp"
#include "solvers/preconditioners/jacobi.hpp"

namespace trireme::solvers {

enum class PreconditionerKind : int {
  none,
  jacobi,
  blocks,
  chebyshev,
  given,
  fsai,
  spai,
  ilu,
  icc
};

// In the order of PreconditionerKind.
using PreconditionerList =
    std::tuple<NoPreconditioner, Jacobi, BlockJacobi, Chebyshev, Given, Fsai, Spai, Ilu, Icc>;

// Calls visit(std::type_identity<M>) for each preconditioner of the list, with its kind first.
template <class Visit>
constexpr void for_each_preconditioner(Visit&& visit) {
  [&]<class... M>(std::type_identity<std::tuple<M...>>) {
    int index = 0;
    (visit(static_cast<PreconditionerKind>(index++), std::type_identity<M>{}), ...);
  }(std::type_identity<PreconditionerList>{});
}

template <class Visit>
constexpr void visit_preconditioner(PreconditionerKind kind, Visit&& visit) {
  for_each_preconditioner([&](PreconditionerKind of, auto m) {
    if (of == kind) visit(m);
  });
}

constexpr PreconditionerInfo info_of(PreconditionerKind kind) {
  PreconditionerInfo info{};
  visit_preconditioner(kind, [&](auto m) { info = decltype(m)::type::info; });
  return info;
}

// The name that a case gives to this kind.
constexpr std::string_view name_of(PreconditionerKind kind) { return info_of(kind).names[0].name; }

// Calls visit(kind, name) for each name of each preconditioner.
template <class Visit>
constexpr void for_each_preconditioner_name(Visit&& visit) {
  for_each_preconditioner([&](PreconditionerKind kind, auto m) {
    for (const PreconditionerName& name : decltype(m)::type::info.names)
      if (!name.name.empty()) visit(kind, name);
  });
}

}  // namespace trireme::solvers
